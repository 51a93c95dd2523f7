"""What a diff without context says of the places it changed."""

from convoy.planner.ground import MOST_HUNKS, hunks

DIFF = """\
diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1 +1,2 @@ def work():
-old
+new
+-- and more
@@ -10,0 +12,1 @@
+++ b/looks/like/a/name.py
diff --git a/new name.py b/new name.py
new file mode 100644
--- /dev/null
+++ b/new name.py\t
@@ -0,0 +1,2 @@
+one
+two
\\ No newline at end of file
diff --git a/gone.py b/gone.py
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
--- a/not/a/name.py
-two
diff --git a/b.png b/b.png
Binary files a/b.png and b/b.png differ
"""


def test_each_file_has_its_places() -> None:
    assert hunks(DIFF.split("\n")) == {
        "a.py": ((1, 1, 1, 2), (10, 0, 12, 1)),
        "new name.py": ((0, 0, 1, 2),),
        "gone.py": ((1, 2, 0, 0),),
    }


def test_of_a_file_that_changed_all_over_some_places_are_kept() -> None:
    places = [f"@@ -{n} +{n} @@\n-a\n+b" for n in range(1, 2 * MOST_HUNKS)]
    text = "\n".join(("--- a/a.py", "+++ b/a.py", *places))

    assert len(hunks(text.split("\n"))["a.py"]) == MOST_HUNKS
