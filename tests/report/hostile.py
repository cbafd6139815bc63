"""Texts that a model or a server may send to break a report."""

HOSTILE = (
    "<script>window.pwned=1</script>",
    '"><img src=x onerror="window.pwned=1">',
    "</pre></details></style><script>window.pwned=1</script>",
    "<svg onload=window.pwned=1><style>*{display:none}</style></svg>",
    "{{ 7*7 }}{% raw %}<b>bold</b>",
    "<iframe src='https://example.com/'></iframe><a href='javascript:window.pwned=1'>x</a>",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;&#x3c;b&#62;",
    "[click](javascript:alert(1)) ![x](https://example.com/a.png) @everyone https://example.com",
    "| a | b |\n|---|---|\n```\n<b>\n`````` `x` ~~~ # head",
    "\u202egnp.exe\u2066abc\u2069\u202d reversed",
    "\x00\x01\x1b[31mred\x1b[0m\x07\x7f\x9b31m",
    "lone \ud800 and \udfff surrogates \ufffe\uffff",
    "مرحبا بالعالم שלום 你好 👩‍👩‍👧‍👦 " + "a\u0336" * 200,
    "x" * 1_000_000,
    "<b>" * 50_000,
    ("word " * 20_000) + "\n" * 5_000,
    "]]><!--><![CDATA[ <?xml ?> --><!ENTITY x>",
)
