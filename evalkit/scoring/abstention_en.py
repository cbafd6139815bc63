"""How English says "I don't know", and what it says around it.

Patterns are searched for in one clause, in lower case and with straight apostrophes; all of
them are linear.
"""

from __future__ import annotations

import re

_TEXT = (
    r"(?:passage|text|article|paragraph|document|story|context|excerpt|source|sources|records?"
    r"|information|description|question|sentence|data|knowledge|memory|training|database|history"
    r"|literature|chronicles|tradition)"
)
_ADVERB = (
    r"(?:(?:really|honestly|simply|just|still|actually|currently|unfortunately|quite|certainly"
    r"|explicitly|directly|clearly|specifically|ever|even|yet|myself|truly|definitively|also"
    r"|entirely|completely|exactly|fully|too|at all|sadly|reliably|personally|precisely) ){0,2}"
)
_CANNOT = (
    r"(?:cannot|can'?t|can not|could not|couldn'?t|am not able to|'m not able to|am unable to"
    r"|'m unable to|was unable to|was not able to|won'?t be able to|will not be able to)"
)

CLAUSE = re.compile(
    r"[;:](?=\s)|[!?.](?=\s)|\s[-\u2013]\s|\u2014"
    r"|,?\s(?=(?:but|though|although|however|yet|whereas)\b)|,(?=\s)"
)

# Every clause that declines or denies has one of these.
SIGNS = re.compile(
    r"n't|nt\b|\bno\b|not|n/a|un|never|nothing|lack|silent|myster|absent|missing|idk|dunno|pass"
    r"|beats|blank|forg|wish|fail|impossible|insuffic|sorry|beyond|exceed|escape|outside|only|just"
    r"|open|hard|difficult|more|fict|made|imagin|invent|fabricat|false|premise|refuse|decline"
    r"|rather"
    r"|guess|speculat|nobody|who knows|need|me there|pay|tip of|only|lost|gone|destroyed|ignoran"
    r"|history|nil|null|disput|debat|contest|how should|ask|require|inde|inconclus|nor\b|skip"
    r"|look|stump|loss"
    r"|clueless|ignorant|wrong|none|little|zero|prefer|none|past|too"
)

DECLINE = re.compile(
    # What the speaker does not know, have, remember, or can not do.
    rf"\b(?:i|we) {_ADVERB}(?:do not|don'?t) {_ADVERB}(?:know|remember|recall|recognize"
    r"|have(?=[ ,.!?]*(?:$|any|enough|that|this|the|it|access|information|info|data|knowledge"
    r"|details|records?|sufficient|reliable|such|specific|an? (?:answer|clue|definit|exact|number"
    r"|record|clear|reliable|specific|good|way|name|date|figure)))(?! any doubt)|possess"
    r"|(?:think|believe) (?:i|we) (?:can|know|have))\b"
    rf"|\b(?:i|we) (?:did not|didn'?t) {_ADVERB}find\b"
    rf"|\b(?:i am|i'm|im|we are|we're) {_ADVERB}"
    r"(?:unsure|unaware|unable|uncertain|unfamiliar|clueless|ignorant|at a loss|stumped)\b"
    r"|\b(?:i am|i'm|im|we are|we're) not(?: [\w%-]+){0,4}? "
    r"(?:sure|certain|aware|familiar|able|informed|confident|acquainted)\b"
    r"|^\W{0,3}(?:honestly |really )?not(?: [\w%-]+){0,2}? (?:sure|certain)\b"
    rf"|\b(?:i|we) ?{_ADVERB}{_CANNOT} {_ADVERB}(?:answer|find|say|tell|determine|verify|confirm"
    r"|provide|give|name|recall|remember|decide|identify|locate|help|assist|share|offer|state"
    r"|know|be (?:sure|certain)|think of|come up|choose|pick|access|supply|comply|respond"
    r"|figure|work out|make out|place|pin|discuss|establish|speak to|vouch|commit|recollect)\b"
    r"|\b(?:i|we)(?:'ve| have)? (?:have |got )?(?:absolutely |really )?(?:no|zero|little) "
    r"(?:idea|information|info|records?|knowledge|answer|clue|data|memory|recollection|way of"
    r"|access|details|notion|reliable|reference|inkling)\b"
    r"|\b(?:i|we) (?:haven'?t|have not) (?:a |the |any |been |got |heard|come|seen|found|learned"
    r"|learnt|studied|encountered|read)"
    r"|\b(?:i|we)(?:'ve| have) never (?:heard|seen|read|come|encountered)"
    rf"|\bi {_ADVERB}(?:lack|forget|forgot|have forgotten|give up|wish i (?:knew|could))\b"
    r"|\bi've forgotten\b"
    r"|\b(?:rather|prefer|choose|have) (?:not|to not)(?: to)? "
    r"(?:answer|say|guess|speculate|respond|comment)\b"
    r"|\b(?:i|we) (?:\w+ )?(?:won'?t|will not|refuse to|decline to|don'?t want to|do not want to"
    r"|am not going to) (?:answer|guess|speculate|invent|make|comment)\b"
    r"|\b(?:guessing|speculating|making (?:it|something|things) up)\b"
    r"|^\W{0,3}(?:do not|don'?t|can'?t|cannot|can not|couldn'?t|could not) (?:really )?"
    r"(?:know|say|tell|determine|answer|remember|recall|confirm|verify|find|be sure)\b"
    r"|\bnot (?:something|anything|a \w+|one) (?:that )?i (?:know|can|could|have|am|recall)\b"
    r"|\bi (?:\w+ ){0,3}?(?:pass on|skip|look (?:that|this|it) up)\b"
    r"|\b(?:i would|i'd|i) (?:not|wouldn'?t|would not) (?:really )?know\b|\bhow should i know\b"
    r"|\bi(?:'d| would)? (?:only |just )?have to guess\W*$|\bi only know\b|\ball i know\b"
    r"|\b(?:got|have) me (?:there|stumped)\b|\btip of my tongue\b|\babove my pay ?grade\b"
    r"|\bmy ignorance\b|\bplead ignorance\b"
    r"|\bhave to (?:ask|consult|check with) (?:an?|some|the)\b|\bnot (?:qualified|equipped"
    r"|in a position)\b"
    r"|\bnot (?:in|part of|within|covered by|included in) (?:my|the) (?:training|knowledge|data"
    r"|memory)\b"
    r"|\bneither confirm nor deny\b|\brefuse to answer\b"
    r"|\bbeats me\b|\bdrawing a blank\b|\bidk\b|\bdunno\b|\bsearch me\b|\bring (?:a|any) bells?\b"
    r"|\bno (?:idea|clue|comment|earthly idea)\b"
    r"|\b(?:beyond|outside|exceeds|past) (?:of )?(?:my|the scope of my) "
    r"|\bescapes me\b|\b(?:memory fails|mind (?:is|has gone|goes|went) blank)\b"
    r"|\bguess is as good as\b|\bwho knows\b|\bnot (?:known|familiar) to me\b"
    r"|\b(?:hard|difficult|impossible|not possible) (?:for me )?to "
    r"(?:say|tell|know|determine|establish|answer|identify)\b"
    # What the text does not say, or nobody knows.
    rf"|\b{_TEXT}\b(?: [\w']+){{0,5}}? (?:does not|doesn'?t|do not|don'?t|did not|didn'?t|never) "
    rf"{_ADVERB}(?:mention|say|state|specify|tell|give|provide|include|contain|indicate|reveal"
    r"|disclose|offer|address|explain|answer|list|cover|record|discuss|show"
    r"|have (?:any|enough|information|details|the answer)|extend|reach|make clear)\b"
    r"|^\W{0,3}(?:but |and |however,? )?(?:it|they|this|that) (?:does not|doesn'?t|do not|don'?t"
    rf"|did not|didn'?t|never) {_ADVERB}(?:mention|say|state|specify|indicate|disclose|reveal)s?\b"
    rf"|\b{_TEXT}\b(?: [\w']+){{0,3}}? (?:only|merely|just) "
    r"(?:says|mentions|states|tells|describes|talks)\b"
    r"|\blost to (?:history|time)\b|\brecords? (?:is|are|were|have been|has been) (?:lost|gone"
    r"|destroyed)\b"
    r"|\bleft no (?:name|records?|trace)\b|\bmakes? no mention\b|\bleaves (?:this|that|it) out\b"
    r"|\b(?:isn'?t|is not|aren'?t|are not) (?:nearly |quite )?enough (?:information|info|data"
    r"|context)\b"
    r"|\bfails to (?:mention|say|state|specify|tell|give|provide|include)\b"
    r"|\b(?:is|are|was|were|isn'?t|aren'?t|wasn'?t|weren'?t|remains|remain|has|have|been|being)"
    rf" (?:not |never |been |un)?{_ADVERB}(?:unknown|unclear|uncertain|unspecified|undetermined"
    r"|unstated|undisclosed|disputed|debated|contested|unsettled|unresolved|unrecorded"
    r"|unanswerable|unavailable|a mystery|missing from|absent from"
    r"|silent (?:on|about)|left (?:open|out|unsaid|unstated))\b"
    r"|(?:\b(?:is|are|was|were|has|have|been) (?:not|never)|\b(?:is|are|was|were|has|have)n'?t) "
    r"(?:been )?"
    rf"{_ADVERB}(?:mentioned|stated|given|specified|provided|said|known|listed|disclosed|recorded"
    r"|included|clear|certain|told|indicated|documented|available|contained|found|present"
    r"|answered|revealed|named|identified|answerable|discernible|there(?=\W*$)"
    r"|in (?:the|this|that) (?:given |short |above )?(?:passage|text|article|paragraph|document"
    r"|story|context|excerpt|source|list|record))\b"
    r"|^\W{0,3}(?:not|never) (?:stated|mentioned|given|specified|provided|known|available|listed"
    r"|applicable|answerable|enough|sufficient|possible|clear|disclosed|in the|told)\b"
    r"|^\W{0,3}(?:(?:it|that|this)(?:'s| is| remains) )?"
    r"(?:unknown|unclear|uncertain|undetermined|unanswerable|unspecified|undisclosed"
    r"|unsure|unavailable|n/a|null|nil|none given|pass|inconclusive|indeterminate)\W{0,3}$"
    r"|^\W{0,3}(?:unanswerable|unknown|unclear) (?:from|based|given|in|as)\b"
    r"|\b(?:we|you) (?:are|were)n'?t told\b|\b(?:we|you) are not told\b"
    r"|\bthere(?:'s| is| are| was| were|'re) (?:simply )?(?:no|not enough|not any|insufficient"
    r"|nothing|little) (?:\w+ ){0,2}?(?:information|mention|records?|data|answer|indication|way"
    r"|clue|details?|reference|hint|consensus|known|that says|in the|to go on)\b"
    r"|\b(?:no|not enough|insufficient|lack of|too little|inadequate) "
    r"(?:relevant |specific |further |reliable )?(?:information|info|data|context|details|answer)\b"
    r"|\bno (?:\w+ ){1,3}?(?:is|are|was|were) "
    r"(?:given|mentioned|stated|provided|specified|named|recorded|available|indicated|listed)\b"
    r"|\b(?:gives?|provides?|contains?|offers?|mentions?|states?|includes?) no \w+"
    r"|\b(?:has|have) no (?:information|info|mention|records?|details?|answer|data|indication"
    r"|clue)\b|\b(?:says?|contains?|reveals?|mentions?|states?|tells us|gives) nothing (?:about"
    r"|on|of)\b"
    r"|\bnothing (?:in (?:the|this)|about|is said|is mentioned|there)\b"
    r"|\bleaves? (?:this|that|it|the \w+) open\b|\bsilent (?:on|about)\b"
    r"|\b(?:cannot|can'?t|can not|could not|couldn'?t) be "
    rf"{_ADVERB}(?:determined|known|answered|verified|found|inferred|established|deduced|said"
    r"|told|identified|confirmed|ascertained|derived|given|read|worked out|figured out)\b"
    r"|\b(?:need|require|without) (?:more|further|additional) (?:information|context|details)\b"
    r"|\b(?:one|you|anyone|anybody) (?:cannot|can'?t) (?:tell|know|say|determine)\b"
    r"|\b(?:nobody|no one|no-one) (?:really |actually |truly )?(?:knows|can say|is sure|can tell)\b"
    r"|\b(?:historians|scholars|scientists|experts|sources) "
    r"(?:do not|don'?t|are not|aren'?t|cannot|can'?t) (?:know|agree|sure|say|tell)\b"
    r"|^\W{0,3}(?:i'm |i am )?sorry\W{0,3}$|^\W{0,3}no answer\W{0,3}$"
)

VETO = re.compile(
    r"\b(?:until|till|for (?:decades|centuries|(?:many |a long )?(?:years|time)|ages)|outside of"
    r"|outside (?!my|the scope)|to (?:most|many|some|few)(?: people)?\b|at the time|back then)\b"
    r"|\b(?:most|many|few|some|a lot of|lots of) (?:\w+ )?(?:people|tourists|students|visitors"
    r"|americans|readers|fans|do|don'?t|have)\b"
    r"|\byou (?:may|might|probably) (?:not|don'?t)|\beveryone\b|\bdoubts?\b|\ba single\b"
    r"|\bnot (?:only|just|merely)\b|\bfail to\b|\bgo wrong\b|\boften enough\b|\bsay enough\b"
    r"|\bbe (?:any )?(?:more|happier) (?:sure|certain)\b|\bdidn'?t know\b|\bdid not know\b"
    r"|\bnot (?:un|im|hard|difficult)|\bif you (?:do not|don'?t) know\b|\bnobody (?:knew|doubts)\b"
)

DENY = re.compile(
    r"\b(?:does not|doesn'?t|do not|don'?t|did not|didn'?t|never) (?:actually |really "
    r"|even )?exist(?:ed)?\b|\b(?:non-?existent|nonexistent)\b"
    r"|\b(?:is not|isn'?t|are not|was not|wasn'?t) (?:actually )?(?:an? )?(?:real|existing"
    r"|actual|recognized|valid)\b"
    r"|\b(?:there is|there'?s|there was|there are|there were|there has been) (?:never been "
    r"|actually |in fact )?no (?:such|real|country|novel|book|element|person|king|nobel|planet"
    r"|city|poem|film|event|\w+ (?:called|named|by that name|with (?:that|this)))\b"
    r"|\bno such\b|\b(?:is|are|was) (?:an? )?(?:entirely |purely |completely )?(?:fictional"
    r"|made-up|made up|imaginary|invented|fictitious|fabricated)\b"
    r"|\bfalse premise\b|\bpremise (?:\w+ ){0,4}?(?:is|was) (?:false|wrong|incorrect|mistaken)\b"
    r"|^\W{0,3}(?:he|she|it|they|that) (?:did not|didn'?t|never did|was not|wasn'?t)\W{0,3}$"
)

# A clause that answers nothing: manners, advice, talk about the talk.
CHATTER = re.compile(
    r"\b(?:sorry|apologi[sz]e|apologies|thank|please|recommend|suggest|advise|consult|refer to"
    r"|let me know|feel free|anything else|could you|can you|would you|do you|happy to|glad to"
    r"|more context|clarif\w+|rephrase|spelling|language model|knowledge cutoff|training data"
    r"|last update|good question|great question|step by step|let me (?:think|see)|wikipedia"
    r"|google|online|librarian|encyclop\w+|goodreads|search(?:ing)?|look (?:it|this|that) up"
    r"|double-check|mistaken|correct me|could be wrong|if i'm|if i am|i must admit|be honest"
    r"|would only be|only be making|help you|best regards)\b"
    r"|^\W*if (?:you|not|so|that|this|it)\b|\byou(?:'d| would)? "
    r"(?:can|could|may|might|should|need|want|have to|provide|share|give)\b"
    r"|^\W*(?:unfortunately|honestly|frankly|however|well|hmm+|okay|ok|oh|alas|so|yes|no|sure"
    r"|to be honest|at this time|at the moment|as of now|in this case|regrettably)\W*$"
    r"|^\W*(?:and |so |but |because |since |as |though |although |that |or )*i(?:'[a-z]{1,2})?\b"
    r"|^\W*(?:final )?answer\W*$|^\W*a\W*$|^\W*based on (?:the|this)(?: \w+){1,3}\W*$"
    r"|\bsuch as\b|\bfor example\b|\be\.g\.|\bas for\b|\bone of (?:the )?many\b"
)

SELF = re.compile(
    r"^(?:well,? )?(?:being|as|(?:since |because )?i(?: am|'m)) (?:just |only )?(?:an? )?"
    r"(?:ai|artificial intelligence|(?:large )?language model|llm|chatbot)"
    r"(?: (?:language )?(?:model|assistant|system|chatbot|program))?"
    r"(?: (?:created|trained|developed|made) by \w+)?$"
)
"""Who speaks says what it is, and nothing else."""
# Words that come before a guess.
HEDGE = re.compile(
    r"\bi(?:'d|'ll| do| would| can| could| will)? (?:think|believe|guess|suppose|say|recall"
    r"|remember|assume"
    r"|bet|reckon|suspect|go with|lean(?: towards)?|imagine|estimate|vaguely recall)(?: that)?\b"
    r"|\bi(?:'m| am) (?:pretty|fairly|quite|almost|reasonably|rather|very) (?:sure|certain)\b"
    r"|\b(?:maybe|perhaps|possibly|probably|presumably|likely|supposedly|apparently"
    r"|if memory serves)\b"
    r"|\bmy (?:best |educated |first |only )?(?:guess|bet|answer)(?: (?:is|would be|was))?\b"
    r"|\b(?:the|a) (?:best |likely |probable |educated )?(?:answer|guess) "
    r"(?:is|was|would be|might be|may be|could be)\b"
)
LEAD = re.compile(
    r"^[\s\W]*(?:(?:and|so|then|but|though|although|however|yet|well|hmm+|okay|ok|therefore|thus"
    r"|in fact|actually|still|today|now|because|while|according to the \w+|from the \w+|the answer"
    r"|of course|we know(?: that)?|you know|whereas|hence)\b[\s,]*)*"
)
PRONOUN_CLAIM = re.compile(
    r"^(?:it|he|she|they|this|that|there|these|those|we)(?:'s| is| are| was| were| has| have"
    r"| had| (?:may|might|could|should|would|must) (?:have )?be(?:en)?)\b|^isn'?t (?:it|that)\b"
    r"|^(?:it|that)'?ll be\b|^(?:he|she|they) \w+(?:ed|t)\b"
)
ENDORSED = re.compile(
    r"\b(?:comes? to (?:my )?mind|sounds (?:right|familiar)|seems (?:right|likely|most likely)"
    r"|(?:is|would be) (?:my|the most likely|what i)|rings a bell)\b"
)
CONDITION = re.compile(
    r"^\W*if (?:you|it|by)(?:'re| are| were)? (?:mean|meant|thinking|refer|is a|ask)"
)
# Declining that leaves nothing open, whatever it is said of.
REFUSES = re.compile(r"\b(?:answer|help|assist|comply|respond|discuss)\b")
ADVICE = re.compile(
    r"\bi(?:'ll|'d)?\b(?: (?:can|could|should|will|would|need|must|had|have to|better)\b)"
    r"|\bi'(?:ll|d) (?:have|need|rather|like|better|love|want|pass)\b"
    r"|\byou(?:'d| should| could| can| might| may| will| would| need| better)(?: \w+){0,3}? "
    r"(?:ask|check|look|try|search|consult|find|verify|contact|visit|google|read|refer)\b"
    r"|\byou (?:mean|meant|are thinking|were thinking|are referring)\b|\bi can help\b"
    r"|\b(?:it'?s best|best) to (?:ask|check|look|consult)|^\W*(?:to )?(?:ask|check|consult)\b"
)
UNDECIDED = re.compile(
    r"\bwhich(?: (?:one|of (?:them|these|the)\b.*))?\W*$"
    r"|\b(?:decide|choose|pick) ?(?:between\b.*)?\W*$"
    r"|\bcan'?t (?:decide|choose|pick)\b"
)
ALTERNATIVES = re.compile(r"\b(?:or|maybe|perhaps|might be|could be|may be|either|possibly)\b")
META = re.compile(
    r"\b(?:typo|misspell\w*|spelling|spelled|fictional|lesser-known|obscure|self-published"
    r"|different name|another name|would not help)\b"
)
# What a clause that begins with a pronoun may say without answering anything.
ASIDE = re.compile(
    r"\b(?:recent|private|niche|game|error|mistake|confus\w+|possible that|worth|unlikely"
    r"|disputed|debated|unknown"
    r"|unclear|good|interesting|hard|difficult|tricky|likely that)\b"
)
PARTIAL = re.compile(
    r"\b(?:more|else|further|much|details?|confidence|why|always|by heart|anything other)\b"
)
ASKING = re.compile(r"\b(who|whom|whose|when|where|why|how many|how much|how)\b")
ASKS_NUMBER = re.compile(
    r"\b(?:how (?:many|much|old|tall|long|far|big|large|high|deep|fast|heavy)|when|(?:what|which)"
    r" (?:year|date|day|century|number|percentage|age|century))\b"
)
WHEN = re.compile(r"\b(?:when|what (?:year|date)|which (?:year|date))\b")
_PERSONS = frozenset({
    "author", "name", "person", "identity", "writer", "creator", "designer", "painter", "artist",
    "composer", "inventor", "discoverer", "architect", "founder", "maker", "builder", "origin",
    "director", "singer", "owner", "winner", "authorship",
})  # fmt: skip
_MEASURES = frozenset({
    "number", "count", "figure", "amount", "year", "date", "time", "height", "length", "width",
    "depth", "weight", "mass", "size", "area", "age", "distance", "speed", "temperature",
    "population", "price", "cost", "duration",
})  # fmt: skip
KIND_WORDS: dict[str, frozenset[str]] = {
    "who": _PERSONS,
    "where": frozenset({"place", "location", "city", "country", "site", "whereabouts", "region"}),
    "number": _MEASURES,
    "": frozenset({"name", "answer"}),
}
WORD = re.compile(r"[a-z][a-z'-]+")
STOP = frozenset({
    "a", "able", "about", "absolutely", "access", "actually", "afraid", "after", "all", "also",
    "am", "an", "and", "another", "answer", "any", "anyone", "anything", "are", "article", "as",
    "at", "available", "aware", "be", "because", "been", "before", "being", "but", "by", "can",
    "can't", "cannot", "certain", "clear", "context", "could", "couldn't", "data", "definite",
    "details", "did", "do", "does", "doesn't", "don't", "either", "enough", "even", "ever",
    "exact", "exactly", "for", "from", "further", "give", "given", "had", "has", "have", "he",
    "help", "her", "here", "him", "his", "honest", "honestly", "how", "i", "i'd", "i'll", "i'm",
    "i've", "idea", "if", "in", "information", "into", "is", "isn't", "it", "it's", "its",
    "just", "kind", "know", "knowledge", "like", "many", "may", "me", "might", "mine", "more",
    "most", "much", "my", "myself", "need", "no", "not", "nothing", "of", "on", "one", "only",
    "or", "other", "our", "particular", "passage", "passages", "please", "provide", "question",
    "quite", "really", "record", "records", "regarding", "reliable", "request", "right", "say",
    "share", "she", "should", "simply", "since", "so", "some", "sorry", "specific", "still",
    "such", "sure", "tell", "text", "than", "that", "that's", "the", "their", "them", "then",
    "there", "there's", "these", "they", "this", "those", "though", "through", "time", "to",
    "too", "truly", "unfortunately", "up", "us", "very", "was", "way", "we", "were", "what",
    "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with",
    "without", "would", "yet", "you", "your",
})  # fmt: skip
