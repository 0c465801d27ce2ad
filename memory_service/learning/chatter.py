"""Chatter: greetings, acknowledgements, questions and vague talk in four languages; none of it is worth remembering."""

from __future__ import annotations

import re
import unicodedata

from kernel.sentences import wishes
from memory_service.domain import normal

#: Fewer letters and digits than this say nothing; a character of CJK says as much as two.
LEAST_LETTERS = 3

_GREETING = re.compile(
    r"(hi|hello|hey|yo|good (morning|evening|afternoon|night|job|work)|greetings|bye|good ?bye|see (you"
    r"|ya)( later)?"
    r"|how are you( doing)?|nice to meet you|welcome( back)?"
    r"|你好|您好|大家好|嗨|早|早安|早上好|上午好|下午好|晚上好|晚安|再见|拜拜"
    r"|こんにちは|おはよう(ございます)?|こんばんは|お疲れ(様|さま)(です|でした)?|さようなら|よろしく(お願いします)?"
    r"|hallo|guten (morgen|tag|abend)|gute nacht|moin|servus|tschüss|auf wiedersehen)"
    r"( (there|all|everyone|everybody|team|folks|nightdesk|again|zusammen|alle))?"
)
_ACKNOWLEDGEMENT = re.compile(
    r"(ok(ay)?|k|yes|yep|yeah|no|nope|sure|right|great|perfect|nice|cool|fine|awesome|excellent|done"
    r"|got it|understood|noted"
    r"|will do|sounds good|looks good( to me)?|lgtm|makes sense|i see|i agree|agreed|exactly|correct"
    r"|of course"
    r"|no problem|you are welcome|you're welcome|(many |ok |great |perfect )?(thanks|thank you|thx|ty|cheers)"
    r"( (so much|a lot|very much|again|for (the|your) help))?|well done|that('s| is) (fine|great|good"
    r"|right|ok|it|all)"
    r"|好的?|好吧|行|可以|嗯+|哦+|对|是的?|不是|不用了?|没事|没问题|收到|知道了|明白了?|了解|多?谢谢?(你|您|大家)?|感谢|辛苦了|不客气|太好了|干得好"
    r"|はい|いいえ|うん|了解(です|しました)?|承知(しました)?|分かりました|わかりました|ありがとう(ございます|ございました)?|どうも|大丈夫(です)?|すみません"
    r"|ja|nein|gut|super|prima|klar|genau|alles klar|verstanden|in ordnung|passt|danke( schön| sehr| dir"
    r"| ihnen)?"
    r"|vielen dank|bitte( schön)?|kein problem|gern geschehen)"
)

_WHAT_IS_MEANT = (
    r"(it|it all|this|that|they|these|those|something|somehow|anything|everything|nothing|(some|the"
    r"|a few)? ?(stuff|things?))"
)
_HOW_IT_IS = (
    r"(off|wrong|weird|strange|odd|funny|broken|slow|bad|fine|ok(ay)?|good|great|down|up|back|dead|stuck"
    r"|happening|going on"
    r"|working|not working|not right|better|worse|the same|different|important|failing|acting up|a (mess"
    r"|problem|pity))"
)
_VAGUE = re.compile(
    rf"(i think |i guess |maybe |perhaps |well |hmm? |again )*{_WHAT_IS_MEANT}"
    rf"( just| still| also| all)*( (is|are|was|were|seems?|looks?|feels?|seems? to be|got|went"
    rf"|has been)( a bit| very| really| so| just| still)*"
    rf" {_HOW_IT_IS}|'s {_HOW_IT_IS}| (works?|broke|failed|happened|stopped|hangs?|changed)"
    r"| (doesn'?t|does not|didn'?t|did not|won'?t|can'?t|don'?t|do not) (work|start|help|load|matter"
    r"|look (right|good)))?"
    r"( (again|now|today|here|somehow|somewhere|as (usual|before)|still|too|since (then|yesterday)"
    r"|once more|for me))*"
    r"|((maybe|perhaps|probably|possibly|let'?s( do)?( it| this| that)?|i'?ll (do|check|look|see)( it"
    r"| into it| this| at it)?) ?)"
    r"*(later|tomorrow|another time|not now|some ?(time|day)|soon|next time|(maybe|perhaps|probably"
    r"|possibly)( not)?)"
    r"|(we'?ll|let'?s|let us|i'?ll|we will) (see|wait|talk)( later)?|who knows|whatever|never ?mind|nvm"
    r"|h+m+|um+|no idea"
    r"|(i('m| am) )?not (quite |really )?sure( yet)?|i (don'?t|do not|dunno)( really)?( know| care"
    r"| mind)?|let me (check|see|think|look)"
    r"|it depends|i('ll| will) let you know|same( here| as before)?|and so on|etc"
    r"|(这个?|那个?|它|东西|什么东西|系统|服务|好像|似乎|感觉|可能|也许|有点|有些|有|怎么|又|还是|总是|一直|就是|不|很|太|出)*"
    r"(问题|毛病|奇怪|不对|不太对|不对劲|怪怪的|坏了|挂了|崩了|不行了?|不好|不正常|不工作|没反应|慢|卡|一样|怪)(了|啊|吧|的)*"
    r"|这个?|那个?|东西|(也许|可能|或许)(吧|是|不是)?|(以后|之后|回头|晚点|稍后|下次|改天|明天|等会儿?|有空)?(再|来)(说|看|讲|弄|议|处理|看看)(吧)?|看情况|随便"
    r"|不知道|不清楚|不确定"
    r"|(なんか|何か|なにか|ちょっと|また|まだ|やっぱり|これ|それ|あれ|が|は)*(変|おかしい|壊れた|壊れてる|動かない|だめ|ダメ|遅い|調子が?悪い)(です|だ|ね|な|みたい)*"
    r"|(たぶん|多分|あとで|後で|また(今度|後で|あとで)|そのうち|今度)(ね|です|また|やる|見る)*|分からない|わからない"
    r"|(irgend(et)?was|etwas|es|das|alles|da)( ist| geht| stimmt| läuft| funktioniert| klappt)( wieder"
    r"| mal| schon| irgendwie| noch| immer)*"
    r"( (nicht|nicht mehr|komisch|kaputt|langsam|falsch|seltsam|schlecht|faul|los))*( wieder)?"
    r"|(vielleicht|eventuell|mal) ?(später|morgen|nicht|sehen)?|später|(ein )?andermal|mal (sehen"
    r"|schauen)|keine ahnung|weiß (ich )?nicht|egal"
)

#: Longer than this a text says something, however vaguely it begins.
_VAGUE_CHARACTERS = 80

_EN_SUBJECT = (
    r"(i|you|he|she|it|we|they|the|this|that|these|those|there|anyone|anybody|someone|somebody|my|our"
    r"|your|any)\b"
)
_QUESTION = re.compile(
    # what begins like a question: `who to page: Ann` and `when node-7 restarts, drain it` are none
    r"(so |and |but |please |hey |hi |well )*"
    r"((what|why|who|whom|whose|which|where)('s|'re)?\b(?! (to|ever)\b)(?!ever|-)"
    r"|(how|what|who|where|when) to\b|how( (much|many|long|often|far|come|about|bad|do|does|did|is|are"
    r"|was|were|can|could|should|would|will|has|have))\b"
    rf"|when (is|are|was|were|do|does|did|will|would|can|could|should|has|have|had) |(is|are|was|were|does"
    rf"|did|isn'?t|aren'?t|wasn'?t|doesn'?t|didn'?t) "
    rf"|(do|don'?t|can|could|can'?t|will|would|won'?t|should|shall|may|might|has|have|had|hasn'?t"
    rf"|haven'?t) {_EN_SUBJECT}"
    r"|do (you|we|they) |any (idea|news|update|luck)|(do you know|can you tell|tell me|i wonder|wondering) )"
    r"|(请问|想问一?下|问一?下|你知道|有没有人知道|能不能|可不可以|是不是|有没有|要不要|会不会|难道)"
    r"|(为什么|为何|为啥|怎么|怎样|如何|什么|哪里|哪个|哪些|哪儿|谁|多少|几点|几个|是否|什么时候)"
    r"|(なぜ|何故|なんで|どうして|どうやって|どうすれば|どこ|どの|どれ|誰|だれ|いつ|何[がをでのに]|いくつ|いくら)"
    r"|(warum|wieso|weshalb|wozu|wer|wen|wem|wann|was|wo|woher|wohin|welche[rsnm]?) "
    r"|wie (ist|sind|war|kann|können|oft|viele?|lange|heißt|geht|funktioniert|macht|soll|komme?) "
    r"|(ist|sind|hat|haben|kann|können|wird|werden|läuft|funktioniert|gibt|weiß|weißt|könn(t)?est?) (es"
    r"|das|der|die|ich|du|er|sie|wir|ihr|man|jemand)\b"
    r"|soll(en|te)? (ich|wir|man) "
)
#: What ends like a question, in languages that ask at the end.
_ASKS_LAST = re.compile(
    r".*(吗|呢|么|为什么|怎么办|怎么样|怎么回事|怎么了|是什么|是谁|在哪里?|在哪儿|多少|几点|哪个|哪些|谁负责|什么原因|什么情况|什么意思|"
    r"(です|ます|でした|ました|でしょう)か|のか|かな|かしら|だっけ|何ですか|, (right|correct|no|or not|oder))"
)
#: A short clause with a question's word in its midst: "结账为什么总是失败". In a longer one it may be reported.
_ASKS_WITHIN = re.compile(r".*(为什么|为何|为啥|怎么会|怎么才能|如何才能|どうして|なぜ).*")
_CLAUSE_CHARACTERS = 24
#: `who to page: Ann`, `如何重启：先停 nginx`: the answer stands beside the question.
_ANSWERED = re.compile(r"[:：=]\s*\S.{2,}|—|->|→|(由|取决于|说明了|写明|记录在|记在|见).{2,}")


def chatter(text: str) -> str:
    """Return what kind of chatter a text is, or "" where it says something."""
    plain = normal(text)
    bare = " ".join("".join(c if c.isalnum() or c in "'’-" else " " for c in plain).split()).replace("’", "'")
    if _letters(bare) < LEAST_LETTERS:
        return "it says nothing"
    if all(_is_small_talk(part) for part in _parts(plain)):
        return "small talk"
    if len(bare) <= _VAGUE_CHARACTERS and _VAGUE.fullmatch(bare):
        return "vague talk"
    return "a question" if _is_question(text, plain) else ""


def _parts(plain: str) -> list[str]:
    """Return the pieces of `ok, thanks!`: each is small talk, or the whole is not."""
    found = [" ".join(part.split()).strip("'\"~ ") for part in re.split(r"[.,;:!?。，、；！？~\n…]+", plain)]
    return [part for part in found if any(c.isalnum() for c in part)]


def _is_small_talk(part: str) -> bool:
    return bool(_GREETING.fullmatch(part) or _ACKNOWLEDGEMENT.fullmatch(part))


def _is_question(text: str, plain: str) -> bool:
    if text.rstrip(" \t\n\"'”’)）」").endswith(("?", "？", "؟")):
        return True
    if wishes(text.strip()) or _ANSWERED.search(plain):
        return False
    if _QUESTION.match(plain) or _ASKS_LAST.fullmatch(plain):
        return True
    return len(plain) <= _CLAUSE_CHARACTERS and bool(_ASKS_WITHIN.fullmatch(plain))


def _letters(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if c.isalnum())
