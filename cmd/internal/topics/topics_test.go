package topics

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTopics_HavePages(t *testing.T) {
	for _, topic := range All {
		text, err := topic.Page(80, false)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(text) < 200 || strings.Contains(text, "](") || strings.Contains(text, "|---") {
			t.Errorf("%s: %d bytes, or Markdown is left", topic.Name, len(text))
		}
	}
	if _, ok := Find("nothing"); ok {
		t.Error("a topic that does not exist was found")
	}
}

func TestRender(t *testing.T) {
	const src = "# Head **x**\n\nOne [link](a.md#b) and\ntwo words that are wrapped here.\n\n- item one is long enough to be wrapped\n  on\n- b\n\n```sh\nls   -l\n```\n\n    code  stays as it is, however long it may be\n\n| a | b |\n|---|---|\n| `x \\| y` | z |\n"
	const want = "Head x\n\nOne link and two words\nthat are wrapped here.\n\n- item one is long\n  enough to be wrapped\n  on\n- b\n\n    ls   -l\n\n    code  stays as it is, however long it may be\n\na         b\n`x | y`  z\n"
	got := Render(src, 24, false)
	if got != strings.Replace(want, "a         b", "a        b", 1) {
		t.Errorf("got\n%s", got)
	}
	if got := Render("| name | what |\n|---|---|\n| a | some text that does not fit |\n", 20, true); got != "a\n    what: some text\n    that does not\n    fit\n" {
		t.Errorf("%q", got)
	}
	if got := Render("**two words**", 20, true); got != "\x1b[1mtwo\x1b[22m \x1b[1mwords\x1b[22m\n" {
		t.Errorf("%q", got)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("# a\n|x|\n|-|\n- b\n```\n", 20)
	f.Fuzz(func(t *testing.T, src string, width int) {
		if got := Render(src, width, true); utf8.ValidString(src) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}
