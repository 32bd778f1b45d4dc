package render

import (
	"regexp"
	"strings"
	"testing"
)

// TestDrawnCharactersHaveNoText checks that characters drawn as shapes are not also visible as text, whatever their
// colour and cursor.
//
// FAULT: B22
// FEATURES: R32
func TestDrawnCharactersHaveNoText(t *testing.T) {
	theme, err := ThemeFor("dark", nil)
	fail(t, err)
	for _, in := range []string{"\x1b[31m─", "\x1b[1;38;5;200;44m█", "\x1b[5;32m│", "\x1b[7m╬", "\x1b[33m⏸", "\x1b[2;35m⧉", "\x1b[31m─\x1b[D"} {
		page := string(AppendHTML(nil, screenOf(native(8, 2), in), PictureOptions{Theme: theme}))
		m := regexp.MustCompile(`<span class="([^"]* )?g [^"]*"`).FindString(page)
		if m == "" {
			t.Errorf("%q is not drawn:\n%s", in, page)
			continue
		}
		for _, class := range regexp.MustCompile(`s[0-9]+`).FindAllString(m, -1) {
			_, rules, _ := strings.Cut(page, ".screen ."+class+"{")
			rules, _, _ = strings.Cut(rules, "}")
			for rule := range strings.SplitSeq(rules, ";") {
				if strings.HasPrefix(rule, "color:") || strings.Contains(rule, "animation:blink ") || strings.Contains(rule, "animation:cursor ") {
					t.Errorf("%q: the text below the shape is seen: %s", in, rules)
				}
			}
		}
	}
}
