"""Negations, swapped roles, and names in the place of others."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.grounding.claims import Claim
from agenteval.grounding.contradictions import against_record, contradictions
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support


def found(claim: str, passage: str) -> list[str]:
    """What the claim says against the passage."""
    return list(contradictions(claim, passage))


@pytest.mark.parametrize(
    ("claim", "passage", "parts"),
    [
        ("Leo is not allergic to peanuts.", "Leo is allergic to peanuts.", ["not allergic"]),
        ("Revenue did not rise last year.", "Revenue rose last year.", ["not rise"]),
        ("The lab hasn't released model X.", "The lab released model X.", ["hasn't released"]),
        ("The board approved the deal.", "The board has not approved the deal.", ["approved"]),
        ("No lab ships the model.", "The lab ships the model.", ["No lab"]),
        ("The shop opens.", "The shop does not open.", ["opens"]),
        ("They have not refused to talk.", "They have refused to talk.", ["not refused"]),
        ("It did not open before noon.", "It opened before noon.", ["not open"]),
        ("The handle doesn't get cool.", "The handle stays cool.", ["doesn't get cool"]),
        (
            "You can't restore tables.",
            "You can restore tables. The import of long views with many rows fails.",
            ["can't restore"],
        ),
        ("It is dishwasher safe.", "Weight 2 kg. Dishwasher safe: no. Rinse by hand.", ["dishwasher"]),
        ("There is no removable battery.", "Water resistant: no | Removable battery: yes", ["no removable"]),
        ("The entrance isn't accessible.", "Accessible entrance: **yes**", ["isn't accessible"]),
        ("It runs on Windows too.", "Windows is not supported yet.", ["runs"]),
        (
            "You can freeze the soup.",
            "The soup keeps two days in the fridge. Not suitable for freezing.",
            ["freeze"],
        ),
        ("Mortality was higher in noise.", "Mortality in noise did not differ.", ["higher"]),
        ("Prices rose in May.", "Prices did not change in May.", ["rose"]),
        ("She accepted the order of merit.", "She declined the order of merit.", ["accepted"]),
        ("Girls cycle more often than boys.", "Girls cycle less often than boys.", ["more"]),
        ("There is dry food.", "There is no more dry food.", ["dry"]),
        ("There is a lift.", "The flat is on the fourth floor without lift, built in 1968.", ["lift"]),
        ("There was a benefit above 10 km.", "No further benefit was seen above 10 km.", ["benefit"]),
        (
            "Speed made a difference.",
            "Speed made no difference after all steps were counted.",
            ["difference"],
        ),
        ("The gate is not B38.", "The gate is B38 (changed from B26).", ["not B38"]),
        (
            "Ada is no longer a singer of the United States.",
            "Ada is a singer of the United States.",
            ["no longer a singer"],
        ),
        ("Node 16 is supported here.", "Node 16 is not supported here.", ["supported"]),
        ("The swings are safe.", "The swings, which aren't safe, will be replaced.", ["safe"]),
        ("The pool will be closed.", "The pool won't be closed; the swings will be replaced.", ["closed"]),
        ("The shop opens before six.", "The shop never opens before six unless it rains.", ["opens"]),
        ("There were no errors.", "There were 10 errors.", ["no errors"]),
        ("It supports Windows.", "Version 2.0 does not support Windows.", ["supports"]),
        ("The kitchen takes orders after ten.", "The kitchen takes no orders after ten.", ["orders"]),
        (
            "Work stopped in May when the steel came.",
            "Work stopped in May; the steel did not come.",
            ["came"],
        ),
        ("The university isn't public.", "The university is public.", ["isn't public"]),
        (
            "The board approved the deal, but did not name a price.",
            "The board has not approved the deal and did not name a price.",
            ["approved"],
        ),
        (
            "United players could train after the ceasefire.",
            "United players could not train after the ceasefire.",
            ["train"],
        ),
    ],
)
def test_negations(claim: str, passage: str, parts: list[str]) -> None:
    """One that only the claim has, or only the passage."""
    assert found(claim, passage) == parts


@pytest.mark.parametrize(
    ("claim", "passage", "part"),
    [
        ("Hunde sind im Museum nicht erlaubt.", "Hunde sind im Museum erlaubt.", "nicht erlaubt"),
        ("Der Zug fährt heute nicht.", "Der Zug fährt heute.", "heute nicht"),
        ("Der Zug fährt heute nicht, der Bus schon.", "Der Zug fährt heute, der Bus auch.", "heute nicht"),
        ("Am Hafen gibt es keine Parkplätze.", "Am Hafen gibt es Parkplätze.", "keine Parkplätze"),
        ("Honden zijn niet toegestaan.", "Honden zijn toegestaan.", "niet toegestaan"),
        ("Les chèques ne sont pas acceptés.", "Les chèques sont acceptés.", "ne sont pas acceptés"),
        ("L'entrée n'est pas gratuite.", "L'entrée est gratuite.", "n'est pas gratuite"),
        ("El wifi no es gratuito.", "El wifi es gratuito.", "no es"),
        ("El museo nunca abre temprano.", "El museo abre temprano.", "nunca abre"),
        ("Il bar non accetta carte di credito.", "Il bar accetta carte di credito.", "non accetta"),
        ("O passeio não inclui almoço.", "O passeio inclui almoço.", "não inclui"),
    ],
)
def test_negations_in_other_languages(claim: str, passage: str, part: str) -> None:
    """The claim's, the passage's, and none where both have it."""
    assert found(claim, passage) == [part]
    assert len(found(passage, claim)) == 1
    assert found(claim, claim.upper().lower()) == []


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Der Aufzug geht bis Dezember nicht.", "Der Aufzug ist bis Dezember außer Betrieb."),
        ("La sala no cambia de horario.", "La sala mantiene su horario."),
        ("Die Gutscheine verfallen nicht.", "Die Gutscheine behalten ihre Gültigkeit."),
        ("Der Zug hält nicht nur in Bonn.", "Der Zug hält in Bonn und Köln."),
        ("Vergiss nicht, in Bonn umzusteigen.", "In Bonn umsteigen."),
        ("Am Montag ist das Museum geschlossen.", "Am Montag ist das Museum nicht geöffnet."),
        ("La piscine est fermée en mai.", "La piscine n'est pas ouverte en mai."),
        ("Offices in NE Portland open at 9.", "Offices in Portland open at 9."),
        ("A non-stop train runs daily.", "A train without a stop runs daily."),
    ],
)
def test_no_negation_in_other_languages(claim: str, passage: str) -> None:
    """The same in other words, and words that only look like one."""
    assert found(claim, passage) == []


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Leo is not allergic to peanuts.", "Leo isn't allergic to peanuts."),
        ("The board did not approve the deal.", "The board refused to approve the deal."),
        ("No, Leo is allergic to peanuts.", "Leo is allergic to peanuts."),
        ("It is not only cheap but good.", "It is cheap and good."),
        ("The deal was signed.", "The deal was signed, but it does not name a price."),
        ("The plan to open on Friday was dropped.", "The plan is not to open on Friday."),
        ("You can't check in before 15:00.", "Check in from 15:00."),
        ("He won't come before noon.", "I can't come before noon, football."),
        ("Node 18 isn't supported any more.", "Node 20 is supported; Node 18 no longer works."),
        ("Bas no longer has an egg allergy.", "Bas outgrew his egg allergy."),
        ("The sync no longer loses events.", "Fixed: the sync lost events."),
        ("You don't pay interest on the loan.", "An interest-free loan."),
        ("You board at gate B38, not B26.", "Gate B38 (changed from B26)."),
        ("There is a lift to the second floor.", "The fourth floor is without lift, built in 1968."),
        ("You can't restore to an older server.", "To restore to a server of an older version always fails."),
        ("`--jobs` has no effect on macOS.", "On macOS the --jobs option is ignored."),
        ("The handle doesn't get hot.", "The handle stays cool."),
        ("It is not dishwasher safe.", "Weight 2 kg. Dishwasher safe: no."),
        ("The battery is removable.", "Water resistant: no | Removable battery: yes"),
        ("Water resistant: no.", "It is not water resistant."),
        ("It runs on Linux.", "It runs on Linux. Windows is not supported yet."),
        ("The use of Windows is free.", "Windows is not supported yet."),
        (
            "In noise the fish were slower, more so the cod.",
            "Mortality in noise did not differ. Fish were slower.",
        ),
        ("You can't freeze the soup.", "Not suitable for freezing."),
        ("Jan has the flu.", "Jan: can't, flu :("),
        ("Dark mode is on Android, iOS has to wait.", "Dark mode is on Android, not yet on iOS."),
        ("Boys cycle more often than girls.", "Girls cycle less often than boys."),
        ("A diet without dry food.", "The diet: please give no more dry food."),
        ("Nobody came.", "The weather was fine in the whole of the north."),
        ("The walk is no longer than 3 km.", "The walk is 3 km long."),
        ("Windows 18 no longer works.", "Windows 18 has stopped working."),
        ("A walk that is far from safe.", "A walk that is not safe."),
        (
            "They do not want to see the money of all spent on piers.",
            "Spend the money on schools, not on piers.",
        ),
        (
            "Der Zug fällt am Samstag zwischen Köln und Bonn aus.",
            "Der Zug fährt am Samstag nicht zwischen Köln und Bonn.",
        ),
        ("It is not clear when it opens.", "It is unclear when it opens."),
        ("It is not open on Tuesdays.", "It is open daily from 10 am to 5 pm except on Tuesdays."),
        ("The shop opens before six only if it rains.", "The shop never opens before six unless it rains."),
        ("There were no errors, but 3 warnings.", "It ended with 0 errors and 3 warnings."),
        ("It had 0 errors.", "It ended with no errors."),
        ("Node 16 is not supported here.", "Node 18 is supported here."),
        ("Node 18 is supported here.", "Node 16 is no longer supported here."),
        ("The kitchen takes orders until ten.", "The kitchen takes no orders after ten."),
        ("He can start in June at the earliest.", "He can't start before June."),
        ("Guests may park for up to two hours.", "Guests can't park for more than two hours."),
        ("He last sang with the band in 2018.", "He hasn't sung with the band since 2018."),
    ],
)
def test_what_is_no_contradiction(claim: str, passage: str) -> None:
    """Negations of both, of something else, answers, and passages about another thing."""
    assert found(claim, passage) == []


@pytest.mark.parametrize(
    ("claim", "passage", "parts"),
    [
        ("Beta bought Alpha.", "On Monday Alpha bought Beta for cash.", ["Beta bought Alpha"]),
        ("Alpha was bought by Beta.", "On Monday Alpha bought Beta for cash.", ["Alpha was bought by Beta"]),
        (
            "Munich is a brewery in Pschorr.",
            "Pschorr is a brewery in Munich.",
            ["Munich is a brewery in Pschorr"],
        ),
        ("Foe beat Hertha.", "Hertha beat Foe.", ["Foe beat Hertha"]),
        ("Dana is allergic to nuts.", "Leo is allergic to nuts; Dana is not.", ["Dana is allergic"]),
        ("France is in Lyon.", "We learn that Lyon is in France.", ["France is in Lyon"]),
        ("It goes from Oslo to Rome.", "A train from Rome to Oslo.", ["Oslo to Rome"]),
        ("Ann Berg led Jo Hall.", "On Monday Jo Hall led Ann Berg.", ["Ann Berg led Jo Hall"]),
    ],
)
def test_roles(claim: str, passage: str, parts: list[str]) -> None:
    """Names that changed places, or stand where the passage has another."""
    assert set(parts) <= set(found(claim, passage))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Beta was bought by Alpha.", "On Monday Alpha bought Beta for cash."),
        ("Alpha bought Beta.", "Beta was bought by Alpha on Monday."),
        ("Beta and Alpha grew.", "Alpha and Beta grew."),
        ("It goes from Oslo to Rome.", "A train from Rome to Oslo, a bus from Oslo to Rome."),
        ("It has 8 rooms in Rome, 9 with a view in Oslo.", "Oslo has 9 with a view, Rome 8 rooms."),
        ("Beta met Alpha.", "Alpha met Beta."),
        ("Beta led Alpha, Beta said.", "Beta led Alpha, Beta said again."),
        ("Sales rose sharply, said Beta.", "Beta said sales rose sharply."),
        ("Beta briefly met Alpha.", "Alpha met Beta."),
        ("President Obama spoke first.", "Barack Obama spoke first."),
        ("The capital of France is Paris.", "Paris is the capital of France."),
        ("Revenue at maker Beta rose 41%.", "Beta reports. Revenue rose 41% this year."),
        ("At Beta, the revenue of Gamma rose 41%.", "Beta and Gamma. Revenue rose 41% this year."),
        ("Axolotls come from Lake Xo.", "The axolotl comes from Lake Xo near Mexico."),
        ("Axolotls are salamanders that come from Lake Xo.", "An Axolotl: a salamander native to Lake Xo."),
        ("Apply until January 15 with a CV.", "Apply by 15 January with a CV."),
        ("Apply until Monday with a CV.", "Apply by Monday with a CV."),
        ("Pauli won 3-2 at Hertha.", "Hertha 2-3 Pauli, half-time 1-1."),
        ("Alpha replaces Beta.", "Beta is replaced by her twin Alpha."),
        ("Ada Brook sold the firm.", "Ada Brook of Acme Corp sold the firm."),
        ("Ada Brook sold the firm.", "Ada Brook, a manager at Acme Corp, sold the firm."),
        ("Analysts had expected more.", "Analysts at Acme had expected more."),
    ],
)
def test_roles_said_in_other_words(claim: str, passage: str) -> None:
    """The passive, lists, what goes both ways, and shorter names."""
    assert found(claim, passage) == []


@pytest.mark.parametrize("piece", ["Alpha bought Beta ", "A b ", "not ", "Ab not bc ", "'"])
def test_long_texts_are_compared_in_bounded_time(piece: str) -> None:
    """Names without end, and negations."""
    start = time.process_time()
    sources = SourceText([json_source("evt-2", piece * 4_000 + "Beta bought Alpha")])
    support(Claim(text="Gamma " + piece * 4_000), sources, ("wording",))
    assert time.process_time() - start < 3


@given(st.text(alphabet="ABab not.no \n'"), st.text(alphabet="ABab not.no \n'"))
def test_any_two_texts_can_be_compared(claim: str, passage: str) -> None:
    """And a text says nothing against itself."""
    found(claim, passage)
    assert found(claim, claim) == []


@pytest.mark.parametrize(
    ("claim", "record", "parts"),
    [
        ("The tool does not support Windows.", "text: The tool supports Windows", ["not support"]),
        ("The tool supports Windows.", "id: 7; text: The tool does not support Windows", ["supports"]),
        ("The tool does not support Windows.", "text: The tool does not support Windows", []),
        ("The tool is not Alpha.", "name: Alpha tool", []),
    ],
)
def test_a_field_may_be_a_sentence(claim: str, record: str, parts: list[str]) -> None:
    """It denies, or says, what the claim says or denies; a name of a word or two does neither."""
    assert list(against_record(claim, record)) == parts
