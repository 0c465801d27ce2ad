"""Words: what is a value for certain, what only may be one, and what never is."""

from __future__ import annotations

import time

import pytest

from agents.log_analysis.mining.words import mask_word


@pytest.mark.parametrize(
    ("word", "coarse", "fine"),
    [
        ("started", "started", "started"),
        ("12,", "<*>,", "<*>,"),
        ("-4", "<*>", "<*>"),
        ("(8.25", "(<*>", "(<*>"),
        ("10.1.2.3:8080", "<*>", "<*>"),
        ("/10.1.2.3:80", "<*>", "<*>"),
        ("api.shop.example.com", "<*>", "<*>"),
        ("com.example.shop", "<*>", "com.example.shop"),
        ("/var/log/x.log.", "<*>.", "<*>."),
        ("'/udev/vcs'", "'<*>'", "'<*>'"),
        ("chdir(/p/gb)", "chdir(<*>)", "chdir(<*>)"),
        ("n/a", "n/a", "n/a"),
        ("https://a.b/c?d=1", "<*>", "<*>"),
        ("5c:50:15:36:bc:03", "<*>", "<*>"),
        ("fe80::c6b3:1ff:fecd:467f", "<*>", "<*>"),
        ("rack-a-41/10.1.2.3:9000", "<*>", "<*>"),
        ("user=root", "user=<*>", "user=<*>"),
        ("state=ready", "state=ready", "state=ready"),
        ("ws=null,ok=true", "ws=<*>,ok=<*>", "ws=<*>,ok=<*>"),
        ('tag="View\ue000Lock",', 'tag="<*>",', 'tag="<*>",'),
        ("[mice.c(12)]:", "[mice.c(<*>)]:", "[mice.c(<*>)]:"),
        ("ssh2", "<*>", "ssh2"),
        ("IO80211PeerManager::open", "<*>::open", "IO80211PeerManager::open"),
        ("attempt_1445144423722_0020_m_000000_0", "<*>", "<*>"),
        ("CPU#0", "CPU#<*>", "CPU#<*>"),
        ("core.2275", "<*>", "core.<*>"),
        ("worker-3", "<*>", "worker-<*>"),
        ("blk_-6952295868487656571", "<*>", "<*>"),
        ("R62-M1-Nf-C", "<*>", "<*>"),
        ("enable.....0", "enable.....<*>", "enable.....<*>"),
        ("sweep.c:1455:", "<*>:", "sweep.c:<*>:"),
        ("v1.5.2", "<*>", "<*>"),
        ("用户123登录失败", "用户<*>登录失败", "用户<*>登录失败"),
        ("()", "(<*>)", "(<*>)"),
        ("Thu", "<*>", "<*>"),
        ("'orders'.", "'<*>'.", "'orders'."),
        ('("orders"),', '("<*>"),', '("orders"),'),
        ('"orders":', '"orders":', '"orders":'),
        ("ann.lee@example.com,", "<*>,", "<*>,"),
        ("java.net.ConnectException", "java.net.ConnectException", "java.net.ConnectException"),
        ("org.example.Reader:", "org.example.Reader:", "org.example.Reader:"),
        ("pods=[shop/web-1a]", "pods=[<*>]", "pods=[<*>]"),
        ("groupId=shop-db]", "groupId=<*>]", "groupId=<*>]"),
        ("url=https://a.example/b?q=x,", "url=<*>,", "url=<*>,"),
        ("ruser=", "ruser=<*>", "ruser="),
        ("parameters={}", "parameters={<*>}", "parameters={}"),
        ("[]", "[<*>]", "[]"),
        ("sleep#12#deep#7", "sleep#<*>#deep#<*>", "sleep#<*>#deep#<*>"),
        ("Window{facadad", "Window{<*>", "Window{<*>"),
        ("facade", "facade", "facade"),
        ("Set(a,\ue000b)", "Set(<*>)", "Set(a, b)"),
        ("服务[shop-api]注册成功", "服务[<*>]注册成功", "服务[shop-api]注册成功"),
        ("deadbeef", "<*>", "<*>"),
    ],
)
def test_a_word_reads_as(word: str, coarse: str, fine: str) -> None:
    assert mask_word(word) == (coarse, fine)


def test_a_dump_is_one_value_behind_its_name() -> None:
    assert mask_word("class.path=" + "/usr/share/x.jar:" * 40) == ("class.path=<*>", "class.path=<*>")


@pytest.mark.parametrize("piece", ["a1-", "a.", "1:", "/a", "=a.", "[", "f0:", "a-1-b_"])
def test_hostile_words_cost_little(piece: str) -> None:
    start = time.process_time()
    mask_word(piece * 5000)
    for length in range(200, 257):
        mask_word((piece * 300)[:length])
    assert time.process_time() - start < 1


def test_groups_of_digits_without_an_end_cost_little() -> None:
    start = time.process_time()
    for length in range(80, 127):
        for end in "!@#$%&":
            mask_word("1-" * length + end)
    assert time.process_time() - start < 0.5
