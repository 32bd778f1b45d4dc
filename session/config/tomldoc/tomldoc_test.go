package tomldoc

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestPositions(t *testing.T) {
	d, err := Parse([]byte("a = 1\n[[t]]\n\"x y\".b = [\"p\",\n  \"q\", 3]\n[[t]]\nc = {d = true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range d.Items {
		it := &d.Items[i]
		got = append(got, fmt.Sprintf("%s %v %v %v %v", strings.Join(it.Path, "/"), it.At, it.ValuePos, it.Data, it.IsInline))
	}
	want := `a {1 1} {1 5} 1 false
t/0/x y/b {3 1} {3 11} [p q 3] false
t/1/c/d {6 6} {6 10} true true
t/1/c {6 1} {6 5} map[] false`
	if s := strings.Join(got, "\n"); s != want {
		t.Error(s)
	}
	if at := d.Element(&d.Items[1], 1); at != (Position{4, 3}) {
		t.Errorf("got the second element at %v", at)
	}
	if h := d.Headers; len(h) != 2 || !h[1].IsArray || h[1].At != (Position{5, 3}) {
		t.Errorf("%+v", h)
	}
}

func TestErrors(t *testing.T) {
	for src, want := range map[string]string{
		"a = \n":                              "1:5: ",
		"a = 1\nb = x\n":                      "2:5: ",
		"a = 1\na = 2\n":                      "a",
		ByteOrderMark + "a = 1\n":             "1:1: the file starts with a byte order mark; save it as UTF-8 without one",
		"a = " + strings.Repeat("[", 1<<20):   "1:505: there are more than 500 open brackets",
		"a = " + strings.Repeat("{a=", 1<<19): "1:1505: there are more than 500 open brackets",
		strings.Repeat("a.", 1<<19) + "b = 1": "",
	} {
		_, err := Parse([]byte(src))
		var e *Error
		if want != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %v, want %s", src, err, want)
		}
	}
}

// TestDepth_IgnoresBracketsInTexts checks that any number of brackets in texts and comments is allowed.
func TestDepth_IgnoresBracketsInTexts(t *testing.T) {
	many := strings.Repeat("[{", maxDepth)
	for _, src := range []string{
		"#" + many, "a = '" + many + "'", "a = \"\\\"" + many + "\"", "a = \"\"\"\n\\\"\"\"" + many + "\"\"\"", "a = '''\n'" + many + "'''",
		"'" + many + "' = 1", "a = [ # " + many + "\n]",
	} {
		if _, err := Parse([]byte(src)); err != nil {
			t.Errorf("%.30q: %v", src, err)
		}
	}
	for _, before := range []string{"a = 'x'\nb = ", "# '\na = ", "a = \"\\\\\"\nb = ", "a = \"\"\"x\"\"\"\nb = ", "a = ''\nb = ", "a = \"\"\nb = ", "a = 'x\nb = ", "a = [\"\"\"x\"\"\"\", ", "a = ['''x''''', ", "a = \"\"\"\"\"\"\nb = ", "a = \"x\\\nb = "} {
		if findTooDeep([]byte(before+many)) < 0 {
			t.Errorf("got no error of brackets after %q", before)
		}
	}
}

func TestManyKeys(t *testing.T) {
	var b strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&b, "k%d = [1]\n", i)
	}
	d, err := Parse([]byte(b.String()))
	if err != nil || len(d.Items) != 5_000 || d.Items[4_999].At.Line != 5_000 {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a = [\"\"\"x\"\"\"\", [[['''y''''']]]] # [[\n\"[[\" = \"\\\"[\""))
	f.Add([]byte("a = [1, {b = 2}]\n[[t.u]]\nc.'d' = 1979-05-27\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := Parse(src)
		if err != nil {
			return
		}
		for i := range d.Items {
			it := &d.Items[i]
			if it.Raw.From < 0 || it.Raw.From > it.Raw.To || it.Raw.To > len(src) || len(it.Path) == 0 || it.At.Line < 1 || it.ValuePos.Line < it.At.Line {
				t.Errorf("%+v", it)
			}
			for n := range it.elements {
				d.Element(it, n)
			}
		}
	})
}
