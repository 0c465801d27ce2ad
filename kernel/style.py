"""The style of a report, pure: which language and which length a person asked for, read by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from kernel.contracts import MemoryHit, Value, Work

Language = Literal["", "zh", "en", "ja", "de", "fr", "es", "pt", "it", "ru", "ko", "ar"]
Length = Literal["", "short", "long"]

#: Languages by the words that people ask for them with; the keys are all that a prompt is ever told.
_LANGUAGES: dict[Language, str] = {
    "zh": r"chinese|mandarin|中文|汉语|漢語|普通话|中国語|chinesisch|chinois|chino|cinese",
    "en": r"english|英文|英语|英語|englisch|anglais|inglés|inglês|inglese",
    "ja": r"japanese|日文|日语|日語|日本語|japanisch|japonais|japonés|japonês|giapponese",
    "de": r"german|德文|德语|deutsch|ドイツ語|allemand|alemán|alemão|tedesco",
    "fr": r"french|法文|法语|français|フランス語|französisch|francés|francês|francese",
    "es": r"spanish|西班牙(?:文|语)|español|スペイン語|spanisch|espagnol|espanhol|spagnolo|castellano",
    "pt": r"portuguese|葡萄牙(?:文|语)|português|portugiesisch|portugais|portugués|portoghese",
    "it": r"italian|意大利(?:文|语)|italiano|italienisch|italien",
    "ru": r"russian|俄(?:文|语)|по[- ]русски|русском|russisch|russe|ruso|russo",
    "ko": r"korean|韩(?:文|语)|한국어|韓国語|koreanisch|coréen|coreano",
    "ar": r"arabic|阿拉伯(?:文|语)|العربية|arabisch|arabe|árabe|arabo",
}
NAMES: dict[Language, str] = {
    "": "",
    "zh": "Chinese",
    "en": "English",
    "ja": "Japanese",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
    "ru": "Russian",
    "ko": "Korean",
    "ar": "Arabic",
}
_LENGTHS: dict[Length, str] = {
    "short": r"short|brief(?:ly)?|concise(?:ly)?|terse(?:ly)?|succinct(?:ly)?|简短|简洁|精简|简明|短一?[点些]"
    r"|(?:尽量|尽可能|要)短|kurz|knapp|brièvement|brevemente|短く|手短に|簡潔に",
    "long": r"long|detailed|verbose(?:ly)?|in (?:full |more |great )?detail|at length|详细|详尽|长一?[点些]"
    r"|ausführlich|en détail|詳しく",
}
#: What is wished for is how we speak: "why do answers in Chinese come short?" wishes nothing.
_WISH = re.compile(
    r"^(?:please |pls |and |also |always |from now on,? |by default,? |i prefer |we prefer |remember:? |"
    r"remember that )*"
    r"(?:(?:keep|make) (?:the |your |all |my )?(?:answers?|repl(?:y|ies)|reports?|messages?|summar(?:y|ies)|it)"
    r"|(?:short|brief|long|detailed|concise|chinese|english)?\s*(?:answers?|replies|reports)\b(?! (?:from|of|for|that))"
    r"|(?:answer|reply|respond|report|write|be)\b)"
    r"|^(?:请|並|并|以后|今后|往后|从现在起|默认|每次|始终|总是|一律|都|我希望|我喜欢|记住|，|,)*"
    r"(?:请)?(?:用|使用|改用|以)?[^。？?]{0,6}(?:回答|回复|答复|报告|汇报|总结|输出)",
    re.IGNORECASE,
)
#: Behind a bare verb stands its subject too: "report why the German site is down for so long" wishes no German. There
#: only what tells a manner counts: "in German", "briefly", "be short", "a short report".
_BARE = re.compile(r"(?:answer|reply|respond|report|write|be)$", re.IGNORECASE)
_BARE_ZH = re.compile(r"(?:回答|回复|答复|报告|汇报|总结|输出)$")
_ANY_LANGUAGE, _ANY_LENGTH = "|".join(_LANGUAGES.values()), "|".join(_LENGTHS.values())
_STYLES = re.compile(
    rf"(?<![a-zäöüß])(?:{_ANY_LANGUAGE}|{_ANY_LENGTH}|compact|crisp)(?:er|en|es)?(?![a-zäöüß])", re.IGNORECASE
)
_BEHIND = r"(?=\s*(?:$|[,.;:!，。；！])|\s+(?:and|or|but|please|only|from|by|unless|when)\b)"
_MANNER = re.compile(
    rf"\b(?:in|into|using)\s+(?:{_ANY_LANGUAGE})(?:(?:\s*[,/]\s*|\s+(?:and|or)\s+)(?:in\s+)?(?:{_ANY_LANGUAGE}))*{_BEHIND}"
    r"|\b(?:brief|concise|terse|succinct|verbose)ly\b|\bin (?:full |more |great )?detail\b|\bat length\b"
    rf"|\b(?:answer|reply|respond|report|write|be|and|very|more)\s+(?:{_ANY_LENGTH}){_BEHIND}"
    rf"|\b(?:{_ANY_LENGTH}|{_ANY_LANGUAGE})(?:(?:,| and)? \w+)? "
    r"(?:answers?|repl(?:y|ies)|reports?|messages?|summary|sentences?)\b"
    r"|[\u2e80-\uffff]+",
    re.IGNORECASE,
)
#: The same wish in the languages it may be for: "Bitte antworte auf Deutsch", "Réponds en français", "日本語で答えて".
_ELSEWHERE = re.compile(
    r"^(?:bitte[ ,]+|also |und )*(?:antworten?|schreiben?|berichten?)\b|\b(?:antworten|schreiben|berichten)[.! ]*$"
    r"|^(?:s'il (?:te|vous) pla[iî]t,? |merci de )*(?:réponds|répondez|répondre|écris|écrivez)\b"
    r"|^(?:por favor,? )*(?:responde|responda|respondan|contesta|escribe|escriba|escreva)\b"
    r"|^(?:per favore,? )*(?:rispondi|risponda|scrivi)\b|^(?:пожалуйста,? )*(?:отвечай|ответь|пиши)(?:те)?\b"
    r"|(?:答えて|回答して|書いて|返事して|報告して)(?:ください|下さい|ね)?[。.！!]*$"
    r"|(?:답해|대답해|답변해|써)\s?(?:줘|주세요|요)?[.!]*$|أجب|اكتب",
    re.IGNORECASE,
)
_MANNER_ELSEWHERE = re.compile(
    rf"\b(?:auf|in|en|em)\s+(?:{_ANY_LANGUAGE})\b|(?:{_ANY_LANGUAGE})(?:で|에?로)|\bпо[- ]русски\b|\bна русском\b"
    rf"|(?:ب|في )?العربية|\b(?:{_ANY_LENGTH})\b|短く|手短に|簡潔に|詳しく",
    re.IGNORECASE,
)
_REFUSED_ELSEWHERE = re.compile(
    r"\b(?:nicht|nie|kein\w*|pas|jamais|nunca|não|non|mai|не)\b|ないで|しない", re.IGNORECASE
)
_NAMED_ZH = re.compile(rf"(?<![用以说成])(?:{_ANY_LANGUAGE})", re.IGNORECASE)
_REFUSED = re.compile(r"\b(?:not|never|no|don'?t|avoid|stop|without)\b|不要|别|不用|不再|勿", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?。！？；;])\s*(?=\S)|\n+")
#: A wish is a short sentence.
_WISH_CHARACTERS = 160
#: Whose sentence it is: how somebody wants to be answered, not what they ask.
_SPEAKING = re.compile(
    r"\b(?:answer|repl(?:y|ies)|respon[ds]|report|message|summar|notif|write|speak|talk|output|keep it|be|language)"
    rf"|\b(?:use|using|switch to|in) (?:{_ANY_LANGUAGE})\b|\bexplain|[用说讲](?:{_ANY_LANGUAGE})"
    r"|作答|答案|解释|说明|通知"
    r"|\b(?:antwort|bericht|schreib|nachricht)|回答|回复|答复|报告|汇报|总结|说话|写|输出|交流|沟通|保持|答え|返事|報告|書い",
    re.IGNORECASE,
)
#: What a sentence that is about nothing but our manner consists of, beside languages and lengths.
_MANNERLY = re.compile(
    r"\b(?:please|pls|and|also|but|always|just|only|very|more|rather|really|from now on|by default|next time|in future"
    r"|for (?:the )?future|each|every|keep|make|be|give|send|use|using|the|your|all|my|our|me|us|it|them|to|in|for"
    r"|should|must|i'?d|we'?d|i|we|would|like|want|wish|love|prefer|preference(?: is)?|you|if you"
    r"|as possible|and to the point"
    r"|(?:answer|repl(?:y|ies)|report|message|summar(?:y|ies)|response|notification)(?:s|ed|ing)?"
    r"|respond|write|speak|talk|explain|switch|language|bitte|immer|und|auf|mir|die|alle|halte|halten|antworten?|berichten?"
    r"|schreiben?|nachrichten)\b|请|麻烦|以后|今后|你的?|您的?|我们?|给|都|也|并且?|而且|尽量|尽可能|保持|使用|改用|用|以|要|应该|希望|喜欢|想要"
    r"|更|一些|一点|[点些的地得来对成]|回答|回复|答复|报告|汇报|总结|输出|说话|交流|沟通|写"
    r"|作答|答案|解释|说明|通知|消息|所有|全部|扼要|[跟说讲我]"
    r"|今後は?|これからは|常に|いつも|答えて|回答して|返事して|報告して|書いて|ください|下さい|[でをはにと]",
    re.IGNORECASE,
)
#: What a request quotes or names is no word of its own language; kana and hangul tell that Han is not Chinese.
_QUOTES = re.compile(r"[\"“”`「『][^\"“”`」』\n]{1,200}[\"“”`」』]|(?<!\w)'[^'\n]{1,200}'(?!\w)")
_HAN, _LATIN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]"), re.compile(r"[A-Za-z][\w./:@-]*")
_NOT_CHINESE = re.compile(r"[\u3041-\u30ff\uac00-\ud7a3]")


class Style(Value):
    """How a report is to be written; empty where nobody said."""

    language: Language = ""
    length: Length = ""

    def instruction(self) -> str:
        """Return the line that a model is told, made of the two values alone; "" where there is nothing to say."""
        parts = [f"in {NAMES[self.language]}"] if self.language else []
        parts += (
            [{"short": "in at most three sentences", "long": "in detail"}[self.length]] if self.length else []
        )
        if not parts:
            return ""
        return f"Style: write your answer {' and '.join(parts)}; quotes, names and ids stay as they are."


def style_of(
    memories: Iterable[MemoryHit], *, request: str = "", labels: Mapping[str, str] | None = None
) -> Style:
    """Return the style that the served preferences ask for; what the request itself says goes first.

    For each of language and length the newest preference wins, then the one that was served first (the weightiest).
    Only preferences that are held for sure count. Where nobody asked for a language, it is that of the request. An
    alert asks for no style.
    """
    asked = "alertname" not in (labels or {})
    told = [stated(request)] if asked else []
    sure = [memory for memory in memories if memory.kind == "preference" and memory.tier == "high"]
    told += [_of(memory) for memory in sorted(sure, key=lambda memory: memory.age_days)]
    told += [Style(language=spoken(request))] if asked else []
    language = next((style.language for style in told if style.language), "")
    length = next((style.length for style in told if style.length), "")
    return Style(language=language, length=length)


def style_for(work: Work) -> Style:
    """Return how an assignment's outcome is to be written."""
    return style_of(work.memories, request=work.request, labels=work.labels)


def spoken(text: str) -> Language:
    """Return the language a text is written in where its script tells it: Chinese; else nothing."""
    own = _QUOTES.sub(" ", text)
    han = len(_HAN.findall(own))
    return "zh" if han > len(_LATIN.findall(own)) and not _NOT_CHINESE.search(own) else ""


def stated(text: str) -> Style:
    """Return the style that sentences of a text ask for, the last wish of each kind."""
    style = Style()
    for sentence in _SENTENCES.split(text):
        wish = " ".join(sentence.split())
        if len(wish) > _WISH_CHARACTERS or wish.endswith(("?", "？")):
            continue
        if alone(wish):
            style = style.model_copy(update=_named(wish))
        elif (wished := _WISH.match(wish)) and not _REFUSED.search(wish):
            style = style.model_copy(update=_named(_manner(wish, wished[0])))
        elif _ELSEWHERE.search(wish) and not _REFUSED_ELSEWHERE.search(wish):
            manner = " ".join(found[0] for found in _MANNER_ELSEWHERE.finditer(wish))
            style = style.model_copy(update=_named(manner))
    return style


def alone(text: str) -> bool:
    """Return whether a sentence wishes for a language or a length and says nothing else: it is meant to stay.

    "Keep it short, 中文", "I like short answers"; not "write a short report about billing", which is one piece of work.
    """
    wish = " ".join(text.split())
    if len(wish) > _WISH_CHARACTERS or wish.endswith(("?", "？")) or not _SPEAKING.search(wish):
        return False
    if _REFUSED.search(wish) or _REFUSED_ELSEWHERE.search(wish) or not _named(wish):
        return False
    rest = _MANNERLY.sub(" ", _STYLES.sub(" ", wish))
    return not any(c.isalnum() for c in rest)


def _manner(wish: str, began: str) -> str:
    """Return what in a sentence tells how to write; of one that only begins with a verb that is not all of it."""
    if _BARE_ZH.search(began):
        return began + _NAMED_ZH.sub("", wish[len(began) :])
    return " ".join(found[0] for found in _MANNER.finditer(wish)) if _BARE.search(began) else wish


def _of(memory: MemoryHit) -> Style:
    """Return the style of a preference: by its slots, else by its text, as older rows have it."""
    language, length = memory.slots.get("language"), memory.slots.get("length")
    known = {
        **({"language": language} if isinstance(language, str) and language in _LANGUAGES else {}),
        **({"length": length} if isinstance(length, str) and length in _LENGTHS else {}),
    }
    return Style.model_validate(known) if known else stated(memory.text)


def _named(text: str) -> dict[str, str]:
    """Return the values that a wish names; two languages in one breath name none."""
    found = {"language": _which(_LANGUAGES, text), "length": _which(_LENGTHS, text)}
    return {slot: values[0] for slot, values in found.items() if len(values) == 1}


def _which(words: Mapping[Language, str] | Mapping[Length, str], text: str) -> list[str]:
    return [
        name
        for name, word in words.items()
        if re.search(rf"(?<![a-z])(?:{word})(?![a-z])", text, re.IGNORECASE)
    ]
