"""Words that carry no meaning by themselves in German, Spanish and French, and how German text is recognised.

Closed classes only: articles, pronouns, prepositions, conjunctions, auxiliaries, and words that lead in a sentence.
"""

from agenteval.language.bare_words import bare_words
from agenteval.language.content_words import carries_content

_GERMAN = frozenset(
    """
    aber auch auf aus bei beim bis bist dann dass dein deine deinem deinen deiner dem deshalb dich diese diesem diesen dieser dieses
    dir doch dort durch ein eine einem einen einer eines etwa euch euer für gegen gibt haben hatte ich ihm ihn ihnen ihr ihre
    ihrem ihren ihrer im ist jedoch kann kannst kein keine keinen laut leider mehr mit muss musst nach nicht nichts noch
    nur oder ohne ob rund schon sehr seit sich sie sind soll sonst sowie statt über um und uns unser unsere unter vom
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
    voraussichtlich vor war waren warum wegen weil wenn werden wie wir wird wo wurde wurden zum zur zwischen uhr
    """.split()  # noqa: SIM905 - a list of them would be six times as long
)
_OPENERS = (["der"], ["das"])
"""Where they begin a text: elsewhere they may be part of a name."""
_AMBIGUOUS = frozenset("am an in so war also".split())  # noqa: SIM905
_OTHERS = frozenset(
    """
    am an da das den der des die du er es gleich hier hinweis in ja nein so von vor was wer zu zwar
    al algunos aquí como con cuando de del desde durante el ella ellas ellos en entre es esta este esto estos estas hasta
    hay la las le les lo los mientras muy más ni no o para pero por porque pues que quien se según ser si sí sin sobre son
    su sus también tras tu un una uno unos unas y ya
    après au aucun aucune aussi avant avec car ce cela ces cet cette chez comme comptez dans depuis des donc du dès elle
    elles et eux il ils je jusqu leur leurs là ma mais mes moi même ne non nos notre nous on ont ou où par pas pendant
    plus pour pourtant puis quand qui sa sans sauf selon sera ses sinon soit sont sous sur ta tes ton toutefois tous tout
    toute très une vers voici voilà vos votre vous à être
    """.split()  # noqa: SIM905
)


def is_function_word(word: str) -> bool:
    """Whether a word in lower case carries no meaning in one of these languages."""
    return word in _GERMAN or word in _OTHERS


def is_german(text: str) -> bool:
    """Whether a text has more German-only words than English function words."""
    words = bare_words(text.lower())
    german = sum(map(_GERMAN.__contains__, words)) + (words[:1] in _OPENERS)
    if not german:
        return False
    return german > sum(not carries_content(word) for word in words if word not in _GERMAN | _AMBIGUOUS)
