package render

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FEATURES: R33
func TestCompat(t *testing.T) {
	text := func(s string) Token { return Token{Text: s} }
	cursor := func(s string) Token { return Token{Text: s, Inverse: true} }
	cases := []struct {
		name, output string
		want         []Token
	}{
		{"empty", "", []Token{cursor(" "), text("       ")}},
		{"text", "ab", []Token{text("ab"), cursor(" "), text("     ")}},
		{"cursor on text", "abc\x1b[2G", []Token{text("a"), cursor("b"), text("c     ")}},
		{"cursor on a wide character", "a你b\x1b[3G", []Token{text("a"), cursor("你"), text("b    ")}},
		{"looks", "\x1b[1;2;3;4;31;48;2;1;2;3mab\x1b[8G", []Token{
			{Text: "ab", Bold: true, Dim: true, Italic: true, Underline: true, FG: "#cd0000", BG: "#010203"}, text("     "), cursor(" "),
		}},
		{"inverse text beside the cursor", "\x1b[7mabc\x1b[2G", []Token{cursor("a"), cursor("b"), cursor("c"), text("     ")}},
		{"cursor in another row", "\x1b[2H", []Token{text("        ")}},
	}
	for _, c := range cases {
		if got := Compat(screenOf(native(8, 2), c.output))[0]; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v; want %+v", c.name, got, c.want)
		}
	}
	b, err := json.Marshal(Compat(screenOf(native(1, 1), "")))
	fail(t, err)
	if want := `[[{"text":" ","bold":false,"italic":false,"underline":false,"dim":false,"inverse":true,"fg":"","bg":""}]]`; string(b) != want {
		t.Errorf("%s; want %s", b, want)
	}
}
