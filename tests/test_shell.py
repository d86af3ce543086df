"""What shell commands do to files, as far as their words tell."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.shell.commands import touches


def read(command: str, folder: str = "/w") -> list[str]:
    """What a command does to files, in short: `?` marks what is not understood."""
    found, unclear = touches(command, folder)
    told = [f"{touch.access} {touch.path}{' + ' * bool(touch.below)}{touch.below}" for touch in found]
    return told + [f"? {text} in {place}" for text, place in unclear]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a b", ["read /w/a", "read /w/b"]),
        ("cd x; cat a; cd /y && cat b", ["read /w/x/a", "read /y/b"]),
        ("(cd x; cat a); cat b", ["read /w/x/a", "read /w/b"]),
        ("pushd x; cat a; popd; cat b", ["read /w/x/a", "read /w/b"]),
        (
            "ls; ls x; ls -d x/*/; ls -R x",
            ["names /w + *", "names /w/x + *", "names /w/x/*", "names /w/x + **"],
        ),
        ("tree x; tree -L 1 x; tree -L 2", ["names /w/x + **", "names /w/x + *", "names /w + **"]),
        ("find x -name '*.md'", ["names /w/x + **/*.md"]),
        ("find -maxdepth 1 -name '*.md'", ["names /w + *.md"]),
        (
            "find x -maxdepth 0; find x -maxdepth 1; find x",
            ["names /w/x", "names /w/x + *", "names /w/x + **"],
        ),
        ("find x -path x/y -prune -o -name a", ["names /w/x + **/a"]),
        ("find x ! -name a", ["names /w/x + **"]),
        ("find x \\( -name a -o -name b \\)", ["names /w/x + **/a", "names /w/x + **/b"]),
        ("find x -path 'x/y/*' -name a", ["names /w/x + y/*"]),
        ("find x -path '*/y/*' -o -name a", ["names /w/x + y/*", "names /w/x + **/a"]),
        (
            "find x -name a -exec cat {} \\; -delete",
            ["names /w/x + **/a", "write /w/x/**/a", "read /w/x/**/a"],
        ),
        ("find x -name a -execdir wc {} +", ["names /w/x + **/a", "read /w/x/**/a"]),
        ("find x -name a | grep b | xargs -n 1 cat", ["names /w/x + **/a", "read /w/x/**/a"]),
        ("echo x/a | xargs grep -I foo", ["read /w/x/a"]),
        ("echo x/a | xargs -I F grep -i foo F", ["read /w/x/a"]),
        ("cat -n -- -a b", ["read /w/-a", "read /w/b"]),
        (
            "sed --expression=p f; grep --regexp=p f; sed --expression p f",
            ["read /w/f", "read /w/f", "read /w/f"],
        ),
        ("date | xargs cat; xargs", ["read /w/$()"]),
        (
            "ls x/*.md | xargs -I% cp % y",
            ["names /w/x/*.md + *", "copy /w/x/*.md", "write /w/y", "copy /w/*", "write /w/y"],
        ),
        ("grep a x; grep -r a x; grep -r a", ["read /w/x", "read /w/x + **", "read /w + **"]),
        ("grep -rn -A 3 -e a --include=*.md x", ["read /w/x + **/*.md"]),
        ("grep --include '*.md' -r a x", ["read /w/x + **/*.md"]),
        ("grep -f list x; grep '|' x", ["read /w/list", "read /w/x", "read /w/x"]),
        ("rg a; cat x | rg a; rg --files y", ["read /w + **/*", "read /w/x", "names /w/y + **/*"]),
        ("rg -g '!b' -g '*.md' -g c/d a y", ["read /w/y + **/*.md", "read /w/y + c/d"]),
        ("git grep a y", ["read /w/y + **"]),
        ("grep -r -- -a x", ["read /w/x + **"]),
        (
            "cp a b; cp -r a b; mv a b",
            ["copy /w/a", "write /w/b", "copy /w/a + **", "write /w/b", "write /w/a + **", "write /w/b"],
        ),
        ("ln -s x y", ["copy /w/x + **/*", "write /w/y"]),
        ("rsync -a --exclude b x/ y", ["copy /w/x + **/*", "write /w/y"]),
        ("tar czf a.tgz x", ["copy /w/x + **"]),
        ("tar -c -C x y | tar x -C z", ["copy /w/x/y + **", "write /w/z + **"]),
        ("tar", []),
        (
            "zip -r a.zip x; zip b.zip y",
            ["copy /w/a.zip + **", "copy /w/x + **", "copy /w/b.zip", "copy /w/y"],
        ),
        ("rm -rf x; rm y", ["write /w/x + **", "write /w/y"]),
        ("diff -r x y", ["read /w/x + **", "read /w/y + **"]),
        ("wc --files-from=a", ["read /w/a"]),
        ("bash -c 'cd x; cat a'; cat b", ["read /w/x/a", "read /w/b"]),
        ("sh -c 'cat $1 $2 $@' _ a b", ["read /w/a", "read /w/b", "read /w/a", "read /w/b"]),
        ("bash x.sh a", ["read /w/x.sh", "? bash x.sh a in /w"]),
        ("bash <<E\ncat a\nE", ["read /w/a"]),
        ("eval 'cd x'; cat a", ["read /w/x/a"]),
        ("sudo -u me env -i A=1 nice -n 5 timeout -k 1 5 cat a", ["read /w/a"]),
        ("A=a; cat $A ${A} $B ${B:-c}", ["read /w/a", "read /w/a", "read /w/$B", "read /w/c"]),
        ("export A='a b'; cat $A", ["read /w/a b", "read /w/a", "read /w/b"]),
        ("C='cat a'; $C", ["read /w/a"]),
        ("for f in a {b,c}; do cat $f; done", ["read /w/a", "read /w/c", "read /w/b"]),
        ("for f in a b; do cd $f; cat c; done", ["read /w/b/c", "read /w/a/c"]),
        ("for f; do cat $f; done", ["read /w/$f"]),
        ("echo a b | while read -r f; do cat $f; done", ["read /w/a", "read /w/b"]),
        ("while read f; do cat $f; done < <(echo a)", ["read /w/a"]),
        ('while read f; do cat $f; done <<< "$(echo a)"', ["read /w/a"]),
        ("read f; cat $f", ["read /w/$f"]),
        ("mapfile -t f < <(ls x/*.md); cat ${f[@]}", ["names /w/x/*.md + *", "read /w/x/*.md", "read /w/*"]),
        ('cat $(echo a) `echo b` "$(echo "c")"', ["read /w/a", "read /w/b", "read /w/c"]),
        ("cat $(cat $(echo a))", ["read /w/a", "read /w/$()"]),
        ("diff <(cat a) <(cat b)", ["read /w/a", "read /w/b", "read /dev/fd/63", "read /dev/fd/63"]),
        ("cat $(pwd)/a $(dirname x/y)/b $(basename x/y/)", ["read /w/a", "read /w/x/b", "read /w/y"]),
        ("echo $((1 + 2)) '$(cat a)' # $(cat b)", []),
        ('echo "it\'s" $(cat a)', ["read /w/a"]),
        ('echo "<(cat a) # $(cat b)"', ["read /w/b"]),
        ("sed '' a; sed -i '' s/a/b/ c", ["read /w/a", "write /w/c"]),
        ("case $x in a) cat b;; esac", ["read /w/b"]),
        ("make a && cat b", ["read /w/b", "? make a in /w"]),
        ("cd x; make $(cat a)", ["read /w/x/a", "? make $(cat a) in /w/x"]),
        ("read a/b", ["? read a/b in /w"]),
        ("cat 'a", ["? cat 'a in /w"]),
        ("cat $(cat a", ["read /w/$", "read /w/a"]),
    ],
)
def test_what_a_command_touches(command: str, expected: list[str]) -> None:
    """Which files it reads, copies, writes or names, and what of folders."""
    assert read(command) == expected


def test_what_is_relative_stays_relative() -> None:
    """Where nobody tells in which folder a command runs."""
    assert read("cat a ../b; cd x/..; cat ../c; cd ../y; cat d", "") == [
        "read a",
        "read ../b",
        "read ../c",
        "read ../y/d",
    ]


def test_what_comes_after_too_many_commands_is_not_understood() -> None:
    """All of it, since nobody knows which."""
    command = "date;" * 2_000 + "cat a"
    assert touches(command, "/w") == ([], [(command, "/w")])


@given(st.text(alphabet="ab/.*$(){}[]<>|&;'\"`\\\n -=#!0\ue0f0\ue0f1\ue100", max_size=40))
def test_no_text_crashes(text: str) -> None:
    """Whatever it is."""
    touches(text, "")
    touches(f"find a -exec sh -c '{text}' ; for x in $(ls {text}); do cat $x; done", "/w")


WORDS = (
    "cd cat groups/* $( ` ) ( ; | && xargs -I{} {} -i find -exec \\; + -name -path -prune -maxdepth 1 ! \\( bash -c eval ' \" for x in do"
    " done while read mapfile case esac $x ${x } <<E E < <( > <<< tar czf -C --exclude rg -g grep -r sudo -u env timeout git A=$A echo"
    " ls $* $@ -- sed -i '' dd if= zip ln mv rm pushd popd pwd basename"
)


@given(st.lists(st.sampled_from([*WORDS.split(), "\n", ""]), max_size=12))
def test_no_command_crashes(words: list[str]) -> None:
    """However little of it there is, or makes sense."""
    touches(" ".join(words), "/w")
    touches("".join(words), "")


@pytest.mark.parametrize(
    "command",
    [
        "echo " + "$(" * 20_000,
        "`" * 40_000,
        "$(cat " * 200 + ")" * 200,
        "cat " + "{a,b}" * 5_000,
        "A=a; " + "A=$A$A;" * 3_000 + "cat $A",
        "for a in " + "x " * 5_000 + "; do cat $a/$a/$a/$a; done",
        "echo " + "a " * 2_000 + "| xargs -I{} sh -c 'echo " + "b " * 50 + '| xargs -I[] sh -c "cat {} []"\'',
        "X='eval $X'; eval $X",
        "find a " + "-name a " * 4_000 + "-exec cat {} +",
        ";cd " * 10_000,
    ],
)
def test_commands_that_would_grow_without_end_are_not_followed_to_it(command: str) -> None:
    """The time stays in proportion to the length."""
    start = time.perf_counter()
    touches(command, "/w")
    assert time.perf_counter() - start < 5
