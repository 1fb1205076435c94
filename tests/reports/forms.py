"""Reads (code, status) pairs back out of each written form, so that forms can be held against each other."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

Pairs = set[tuple[str, str]]
STATUS = "pass|warn|fail|inconclusive|not-looked-at|skipped"
VOID = {"meta", "br", "wbr"}


def of_text(text: str) -> Pairs:
    """Terminal, and Markdown with its escapes taken off."""
    plain = text.replace("\\", "")
    return {(code, status) for code, status in re.findall(rf"(SP\d{{3}}) ({STATUS}) at", plain)}


def of_json(raw: bytes) -> Pairs:
    return {(finding["code"], finding["status"]) for finding in json.loads(raw)["findings"]}


def of_sarif(text: str) -> Pairs:
    return {(result["ruleId"], result["properties"]["status"]) for result in json.loads(text)["runs"][0]["results"]}


class Page(HTMLParser):
    """The elements of a page. Complains of what a browser would repair in silence: unclosed tags and doubled ids."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.findings: list[dict[str, str]] = []
        self.layers: list[tuple[str, str]] = []
        self.summary = ""
        self.blocks: dict[str, str] = {}
        self.text: list[str] = []
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"never closed: {self.open}")

    def _in(self, name: str, css: str = "") -> bool:
        return any(
            tag == name and (not css or css in (attributes.get("class") or "").split()) for tag, attributes in self.open
        )

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if len(attributes) != len(attrs):
            self.faults.append(f"doubled attribute: {attrs}")
        self.tags.append((tag, attributes))
        css = (attributes.get("class") or "").split()
        if tag == "article" and "finding" in css:
            self.findings.append({"code": "", "status": ""})
        if tag not in VOID:
            self.open.append((tag, attributes))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1][0] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][0] in ("script", "style"):
            name = self.open[-1][0]
            self.blocks[name] = self.blocks.get(name, "") + data
            return
        self.text.append(data)
        if self._in("p", "summary"):
            self.summary += data
        if self._in("article", "finding") and self._in("h3"):
            if self._in("span", "spoken"):
                self.findings[-1]["status"] = self.findings[-1]["status"] or data
            elif self._in("span", "chip") and not self._in("span", "soft"):
                self.findings[-1]["code"] = data
        if self._in("summary") and self._in("details", "layer"):
            if self._in("span", "spoken"):
                self._status = data
            elif self._in("span", "name"):
                self.layers.append((data, self._status))

    @property
    def pairs(self) -> Pairs:
        return {(finding["code"], finding["status"]) for finding in self.findings}
