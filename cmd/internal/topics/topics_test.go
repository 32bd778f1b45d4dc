package topics

import (
	"slices"
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

// The first lines of a topic are commands for the common case. Guides begin with their first step instead.
//
// FEATURES: R12
func TestTopics_ShowCommandsFirst(t *testing.T) {
	guides := []string{"tour", "overnight", "from-tmux", "from-zellij", "from-scripts"}
	for _, topic := range All {
		text, err := topic.Page(80, false)
		if err != nil {
			t.Fatal(err)
		}
		commands := 0
		for _, line := range strings.Split(text, "\n")[:min(24, strings.Count(text, "\n"))] {
			if word := strings.TrimPrefix(line, "    "); word != line && strings.Contains(strings.TrimPrefix(word, "$ "), "longterm ") {
				commands++
			}
		}
		if commands < 2 && !slices.Contains(guides, topic.Name) {
			t.Errorf("`longterm help %s` begins with %d commands, want 2:\n%.1200s", topic.Name, commands, text)
		}
	}
}

func TestRender(t *testing.T) {
	const src = "# Head **x**\n\nOne [link](a.md#b) and\ntwo words that are wrapped here.\n\n- item one is long enough to be wrapped\n  on\n- b\n\n```sh\nls   -l\n```\n\n    code  stays as it is, however long it may be\n\n| a | b |\n|---|---|\n| `x \\| y` | z |\n"
	const want = "Head x\n\nOne link and two words\nthat are wrapped here.\n\n- item one is long\n  enough to be wrapped\n  on\n- b\n\n    ls   -l\n\n    code  stays as it is, however long it may be\n\na         b\n`x | y`  z\n"
	got := Render(src, 24, false)
	if got != strings.Replace(want, "a         b", "a        b", 1) {
		t.Errorf("got\n%s", got)
	}
	const table = "| name | what |\n|---|---|\n| a | some text that does not fit |\n"
	if got := Render(table, 20, true); got != "name  what\na     some text that\n      does not fit\n" {
		t.Errorf("%q", got)
	}
	if got := Render("| name | what |\n|---|---|\n| a-long-name | some text that does not fit |\n", 20, true); got != "a-long-name\n    what: some text\n    that does not\n    fit\n" {
		t.Errorf("%q", got)
	}
	if got := Render("| | |\n|---|---|\n| a | b |\n", 20, false); got != "a  b\n" {
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
