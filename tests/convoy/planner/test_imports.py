"""What a file builds on, as its text says."""

from convoy.planner.ground import Ground
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

FILES = frozenset(
    {
        *("src/shop/__init__.py", "src/shop/cart.py", "src/shop/api/__init__.py"),
        *("src/shop/api/views.py", "tests/helpers.py", "tests/test_cart.py"),
        *("web/app.ts", "web/parts/bell.tsx", "web/parts/index.ts", "web/old.js"),
        *("go.mod", "cmd/main.go", "internal/store/store.go"),
        *("src/lib.rs", "src/parse/mod.rs", "src/parse/word.rs", "src/line.rs"),
        *("core/src/main/java/org/shop/Cart.java", "include/list.h", "native/a.c"),
        *("native/a.h", "lib/a.rb", "lib/b.rb"),
    }
)

GROUND = Ground(
    files=tuple(sorted(FILES)), text=lambda _path: "module ex.org/shop\n\ngo 1.22\n"
)


@looped(
    ("tests/test_cart.py", "import shop.cart as c, os", {"src/shop/cart.py"}),
    ("tests/test_cart.py", "from shop import cart", {"src/shop/cart.py"}),
    ("tests/test_cart.py", "from shop import Cart", {"src/shop/__init__.py"}),
    ("tests/test_cart.py", "import helpers", {"tests/helpers.py"}),
    (
        "src/shop/api/views.py",
        "from .. import (\n    cart,  # all of it\n    api,\n)",
        {"src/shop/cart.py", "src/shop/api/__init__.py"},
    ),
    ("src/shop/api/views.py", "from . import views", set()),
    ("src/shop/cart.py", "from nowhere import x\nimport 3\nimport os", set()),
    ("web/app.ts", "import {Bell} from './parts/bell'", {"web/parts/bell.tsx"}),
    ("web/app.ts", 'import "./parts/bell.js"', {"web/parts/bell.tsx"}),
    ("web/old.js", "const p = require('./parts')", {"web/parts/index.ts"}),
    ("web/app.ts", "import React from 'react'", set()),
    ("cmd/main.go", '\t"ex.org/shop/internal/store"', {"internal/store/"}),
    ("src/lib.rs", "pub mod line;\nmod parse;", {"src/line.rs", "src/parse/mod.rs"}),
    ("src/line.rs", "use crate::parse::word::Word;", {"src/parse/word.rs"}),
    ("src/parse/word.rs", "use super::Parser;", {"src/parse/mod.rs"}),
    (
        "core/src/main/java/org/shop/Till.java",
        "import static org.shop.Cart.total;",
        {"core/src/main/java/org/shop/Cart.java"},
    ),
    (
        "native/a.c",
        '#include "a.h"\n# include "list.h"',
        {"native/a.h", "include/list.h"},
    ),
    ("lib/a.rb", "require_relative 'b'", {"lib/b.rb"}),
    ("README.md", "import shop.cart", set()),
)
def test_imports_lead_to_files_of_the_repository(
    path: str, text: str, found: set[str]
) -> None:
    assert GROUND.imported(path, text) == found


@looped("\n", "from a import (", "import ", "pub(", 'from "', " ", "#include", "use ")
def test_no_text_keeps_it_busy(line: str) -> None:
    def read(size: int) -> None:
        text = (line * size)[:size]
        for name in ("a.py", "a.ts", "a.go", "a.rs", "A.java", "a.c", "a.rb"):
            GROUND.imported(name, text)

    assert growth(read, 25_000) < LINEAR
