"""A browser without a screen: it reads pages, follows links, fills in forms and presses buttons by their words."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

import httpx2


@dataclass
class _Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)
    """Words, name and value."""


class _Reader(HTMLParser):
    """The links, forms, labels and words of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.forms: list[_Form] = []
        self.labels: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self.text: list[str] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(_Form(known.get("action", ""), known.get("method", "get")))
        if tag == "input" and "name" in known:
            self.ids[known.get("id", "")] = known["name"]
            if self.forms and known.get("type") not in ("checkbox", "radio", "file"):
                self.forms[-1].fields[known["name"]] = known.get("value", "")
        if tag in ("a", "button", "label"):
            self._open.append((tag, known, []))

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        for _, _, words in self._open:
            words.append(data)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1][0] != tag:
            return
        _, known, said = self._open.pop()
        words = " ".join("".join(said).split())
        if tag == "a":
            self.links.append((words, known.get("href", "")))
        elif tag == "label":
            self.labels[words] = known.get("for", "")
        elif self.forms:
            self.forms[-1].buttons.append((words, known.get("name", ""), known.get("value", "")))


class TextBrowser:
    """Somebody at a site, who sees words alone."""

    def __init__(self, url: str) -> None:
        self._http = httpx2.Client(follow_redirects=True, timeout=60, headers={"Origin": url, "Accept-Language": "en"})
        self._typed: dict[str, str] = {}
        self._url = url
        self._page = ""

    def close(self) -> None:
        self._http.close()

    def open(self, url: str) -> None:
        """Go to an address."""
        self._take(self._http.get(url))

    def again(self) -> None:
        """Look at the same page anew."""
        self.open(self._url)

    def sees(self, words: str) -> bool:
        return words in " ".join("".join(self._read().text).split())

    def click(self, words: str) -> None:
        """Follow the link with these words; one that has a badge or more words beside them will do."""
        links = self._read().links
        found = [href for said, href in links if said == words] or [href for said, href in links if words in said]
        assert found, f"no link says {words!r} at {self._url}"
        self.open(urljoin(self._url, found[0]))

    def type(self, text: str, label: str) -> None:
        """Fill in the field with this label."""
        page = self._read()
        assert label in page.labels, f"no field is called {label!r} at {self._url}"
        self._typed[page.ids[page.labels[label]]] = text

    def press(self, words: str) -> None:
        """Press the button with these words."""
        for form in self._read().forms:
            for said, name, value in form.buttons:
                if said == words and (not self._typed or self._typed.keys() <= form.fields.keys()):
                    fields = {**form.fields, **self._typed, **({name: value} if name else {})}
                    self._typed = {}
                    there = urljoin(self._url, form.action)
                    post = form.method == "post"
                    self._take(self._http.post(there, data=fields) if post else self._http.get(there, params=fields))
                    return
        raise AssertionError(f"no button says {words!r} at {self._url}")

    def _read(self) -> _Reader:
        reader = _Reader()
        reader.feed(self._page)
        return reader

    def _take(self, answer: httpx2.Response) -> None:
        assert answer.status_code == 200, f"{answer.url} answers {answer.status_code}"
        self._page, self._url = answer.text, str(answer.url)
