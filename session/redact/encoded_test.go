package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestMask_EncodedValues checks that a value is masked in URLs, pages, JSON and Base64: each byte of it, and nothing
// else, for any start of the read.
//
// FEATURES: R66 R110
func TestMask_EncodedValues(t *testing.T) {
	for _, value := range []string{"p&ss w'rd<\"1\">/x", "hunter22", "päss=wörd+1", "a b~c(d)e!f*g", "tab\there"} {
		s := newTestVault(t, value).Set()
		forms := []string{
			value, url.QueryEscape(value), url.PathEscape(value), strings.ToLower(url.QueryEscape(value)), html.EscapeString(value),
			strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace(value),
			strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(value),
			base64.RawStdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
		}
		if strings.ToLower(value) != value {
			t.Fatal("the test's values are of small letters")
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		forms = append(forms, string(text[1:len(text)-1]))
		for _, form := range forms {
			in := "x=" + form + ";next=1"
			want := "x=" + strings.Repeat("*", len(form)) + ";next=1"
			if got := s.RedactText(in); got != want {
				t.Errorf("%q as %q:\n got %q\nwant %q", value, form, got, want)
			}
			for from := range len(in) { // the same bytes for each read
				b := []byte(in)
				if s.Redact(b, 0, from, len(b)); string(b[from:]) != want[from:] {
					t.Errorf("%q from %d: %q", form, from, b)
				}
			}
		}
		// Within other text, only the encoding of the value's bytes is masked.
		for before := range 4 {
			plain := "user"[:before] + value + "end"
			got := s.RedactText("<" + base64.StdEncoding.EncodeToString([]byte(plain)) + ">")
			if stars := strings.Count(got, "*"); stars < len(value)*8/6-1 {
				t.Errorf("%q behind %d bytes: %q", value, before, got)
			}
		}
	}
	s := newTestVault(t, "p&ss w'rd<1>").Set()
	for _, in := range []string{"p%26ss", "p&amp;ss", "p&ss+w'rd<2>", "a=1&b=2", "cGFzc3dvcmQ"} {
		if got := s.RedactText(in); got != in {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestMaskFrame_Tabs checks that a value with a tab is masked on the screen in any column, and nothing beside it is.
//
// FEATURES: R110
func TestMaskFrame_Tabs(t *testing.T) {
	for _, value := range []string{"secret\tvalue1", "se\tcr\tet99"} {
		s := newTestVault(t, value).Set()
		for column := range 20 {
			term := vterm.New(vterm.Options{Cols: 60, Rows: 4})
			fmt.Fprintf(term, "%s%s|\r\nplain\ttext", strings.Repeat("x", column), value)
			var f vterm.Frame
			term.Frame(&f, vterm.Query{})
			s.RedactFrame(&f, nil)
			row := rowText(&f, 0)
			if left := strings.Trim(row, "x*"); left != "|" || rowText(&f, 1) != "plain   text" {
				t.Errorf("%q in column %d: %q", value, column, row)
			}
		}
	}
}

func rowText(f *vterm.Frame, row int) string {
	var text []byte
	for _, c := range f.Lines[row].Cells {
		if c.Blank() {
			text = append(text, ' ')
		} else {
			text = f.AppendText(text, c)
		}
	}
	return strings.TrimRight(string(text), " ")
}
