from __future__ import annotations

import pytest

from memory_service.learning.chatter import chatter

SMALL_TALK = """
hi | Hello there! | good morning team | Thanks! | ok. | OK, thanks! | got it | sounds good | thank you so much
no problem | perfect, thank you | 你好 | 您好！ | 收到 | 谢谢！ | 好的，谢谢 | 辛苦了 | 知道了 | おはようございます
ありがとうございます。 | 了解しました | お疲れ様です | はい | Guten Morgen | vielen Dank! | alles klar | danke schön | Moin
"""
VAGUE = """
it works | something is off | it is broken again | maybe later | things are slow today | it doesn't work | that's weird
let's see | not sure | never mind | this | stuff | i'll check later | 这个 | 有点问题 | 又坏了 | 好像不对 | 以后再说 | 也许吧 | 不知道
なんか変です | また壊れた | たぶん | あとで | irgendwas stimmt nicht | es geht nicht | vielleicht später | keine Ahnung
"""
QUESTIONS = """
is checkout down? | what is the owner of billing | why does checkout return 503 | how do I restart it | can you look at node-7
who owns search | should we roll back | do you know the port | where are the logs of search | how to drain a node | any idea
怎么办？ | 为什么结账总是失败 | 值班电话是多少 | 谁负责结账 | 怎么重启 | 请问网关在哪里 | 服务正常吗 | 结账为什么失败
なぜ落ちたのですか | どうやって再起動するの | 誰が担当ですか | warum ist checkout so langsam | wer ist zuständig
wie kann ich das beheben | ist das normal | kann ich neu starten | checkout läuft doch, oder?
"""
NOTHING = " | . | !!! | 👍 | ok | … | a | 1"
SAYS_SOMETHING = """
checkout uses a pool of 20 | the owner of billing is Ann | search runs on node-7 | I prefer tables | port 8080
please always notify me by e-mail | from now on, page bob first | Keep answers short, in Chinese | never restart on Fridays
do not restart payment on Fridays | don't page bob at night | when node-7 restarts, drain it first | who to page: Ann
how to restart search: stop nginx first, then start it | ok is the state that the health check of billing returns
it is Ann | whatever bob deploys goes through staging | something in checkout leaks connections since 4.2
this cluster is broken into three zones | the queue of billing is slow when node-7 is down | answer in English
hello-service runs on node-3 | thanks-api listens on 9000 | what-if runs as a batch job at 02:00
以后请用中文简短回答 | 我喜欢简短的报告 | 值班电话是 555 | 数据库连接池上限为 20 | 以后报告里写明为什么失败 | 如何重启：先停 nginx 再启动
网关的负责人是李雷 | 有问题先找值班 | 你好服务部署在 node-3 | 不要再半夜重启 | 默认用表格
今後は日本語で答えてください | 決済サービスの担当は田中です | 常に短く | 検索はnode-7で動いている
Bitte immer auf Deutsch antworten | der Port von checkout ist 8080 | der Server node-7 ist nachts langsam | Antworten bitte kurz halten
wie besprochen läuft search auf node-7 | wartung ist jeden Montag
"""


def rows(table: str) -> list[str]:
    return [cell.strip() for line in table.splitlines() for cell in line.split(" | ") if cell.strip()]


@pytest.mark.parametrize("text", rows(SMALL_TALK))
def test_small_talk(text: str) -> None:
    assert chatter(text) in ("small talk", "it says nothing")


@pytest.mark.parametrize("text", rows(VAGUE))
def test_vague_talk(text: str) -> None:
    assert chatter(text) == "vague talk"


@pytest.mark.parametrize("text", rows(QUESTIONS))
def test_questions_with_and_without_their_mark(text: str) -> None:
    assert chatter(text) in ("a question", "vague talk")


@pytest.mark.parametrize("text", rows(NOTHING))
def test_what_says_nothing(text: str) -> None:
    assert chatter(text) == "it says nothing"


@pytest.mark.parametrize("text", rows(SAYS_SOMETHING))
def test_what_is_stated_passes(text: str) -> None:
    assert chatter(text) == ""


def test_the_table_is_as_long_as_it_should_be() -> None:
    tables = (SMALL_TALK, VAGUE, QUESTIONS, NOTHING, SAYS_SOMETHING)
    assert sum(len(rows(table)) for table in tables) >= 60
