package authorize

import "testing"

func TestDraft(t *testing.T) {
	for _, c := range []struct {
		name, typed   string
		lines, rest   string
		opaque, ended bool
		restIsOpaque  bool
	}{
		{name: "nothing"},
		{name: "a part", typed: "rm -r", rest: "rm -r"},
		{name: "a line", typed: "rm -rf x\r", lines: "rm -rf x", ended: true},
		{name: "lines", typed: "a\rb\nc", lines: "a\nb", rest: "c", ended: true},
		{name: "a paste", typed: "\x1b[200~a\nb\x1b[201~", lines: "a", rest: "b", ended: true},
		{name: "no paste", typed: "\x1b[A\r", lines: "[A", opaque: true, ended: true},
		{name: "erased", typed: "ab\x7f\r", lines: "ab", opaque: true, ended: true},
		{name: "completed", typed: "a\t", rest: "a", restIsOpaque: true},
		{name: "killed", typed: "rm\x15ls\r", lines: "ls", ended: true},
		{name: "killed behind the cursor", typed: "rm\x1b[D\x15ls\r", lines: "rm[Dls", opaque: true, ended: true},
		{name: "interrupted", typed: "rm\x1b[D\x03ls\r", lines: "ls", ended: true},
		{name: "run and fetched", typed: "a\x0f", lines: "a", opaque: true, ended: true},
		{name: "UTF-8", typed: "é\r", lines: "é", ended: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d TypedLine
			var all TypedLine
			ended := false
			for i := range len(c.typed) { // byte by byte as in one piece, except pastes
				if c.name == "a paste" {
					d, all, ended = d.Type([]byte(c.typed))
					break
				}
				next, lines, end := d.Type([]byte{c.typed[i]})
				if d = next; end {
					if ended {
						all.Text += "\n"
					}
					all.Text, all.Opaque, ended = all.Text+lines.Text, all.Opaque || lines.Opaque, true
				}
			}
			if all != (TypedLine{c.lines, c.opaque}) || ended != c.ended || d != (TypedLine{c.rest, c.restIsOpaque}) {
				t.Errorf("%+v %v, %+v left", all, ended, d)
			}
			whole, lines, end := TypedLine{}.Type([]byte(c.typed))
			if whole != d || lines != all || end != ended {
				t.Errorf("in one piece %+v %v, %+v left", lines, end, whole)
			}
		})
	}
	d, _, _ := TypedLine{}.Type(make([]byte, maxTypedLine+1))
	if !d.Opaque {
		t.Error("control bytes are no text")
	}
}

// TestDraftsThatRecall checks that lines that history expansion changes are distinguished from lines that only contain
// its characters.
//
// FEATURES: R61
func TestDraftsThatRecall(t *testing.T) {
	for text, want := range map[string]bool{
		"!!": true, "!!:1-$": true, "!echo:1 x": true, "!-2": true, "echo !$": true, "echo \"!x\"": true, "^rm^ls": true, "true\n^a^b": true, "!?x?": true, "!1": true, "it's !!": false, "a 'b' !c": true,
		"ls": false, "! true": false, "[ a != b ]": false, "echo 'hi!'": false, "echo '!!'": false, "echo \\!!": false, "\"it's\" !!": true, "echo \\!x": false, "echo $!": false, "echo ${!x}": false, "!(a)": false,
		"if ! true; then a; fi": false, "a!": false, "grep ^a x": false, "": false,
	} {
		if got := (TypedLine{Text: text}).Recalls(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
