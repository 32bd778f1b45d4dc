package programs

import (
	"slices"
	"strings"
	"testing"
)

// TestNoTwoRowsHaveOneName checks that no two rows have one name: the second would have no effect.
func TestNoTwoRowsHaveOneName(t *testing.T) {
	seen := map[string]bool{}
	for _, group := range groups() {
		for i := range group {
			for _, name := range names(group[i].Name) {
				if seen[name] {
					t.Errorf("%s has two rows; make them one", name)
				}
				seen[name] = true
			}
		}
	}
}

// TestRowsParseTheirOptions checks that each option in a row is parsed as that option, alone and with its value.
func TestRowsParseTheirOptions(t *testing.T) {
	All(func(p *Program) {
		for _, list := range []string{p.Values, p.Shell, p.Code, p.Writes, p.Script, p.Runs, p.Loads} {
			for o := range strings.FieldsSeq(list) {
				if !strings.HasPrefix(o, "-") || len(o) > 2 && o[1] != '-' && !p.OneDash || p.set().argv[o] {
					continue
				}
				a := p.Parse([]string{o, "value", "operand"})
				if v, ok := a.Get(o); !ok || v != "value" || !slices.Equal(a.Operands, []string{"operand"}) {
					t.Errorf("%s %s value operand: %+v", p.Name, o, a)
				}
			}
		}
		for o := range strings.FieldsSeq(p.Unsafe) {
			if !strings.HasPrefix(o, "-") || len(o) > 2 && o[1] != '-' && !p.OneDash {
				continue
			}
			a := p.Parse([]string{o, "x"})
			if ok, _ := p.ReadsOnly(&a); ok {
				t.Errorf("%s %s only reads", p.Name, o)
			}
		}
	})
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, line, want string
	}{
		{"rm", "-rf a -v -- -b", "-r -f -v | a -b"},
		{"tar", "--checkpoint-act=exec=id -cf x y", "--checkpoint-action=exec=id -c -f=x | y"},
		{"sort", "-oout x", "-o=out | x"},
		{"timeout", "-k 1 -s9 5 rm -rf /", "-k=1 -s=9 | 5 rm -rf /"},
		{"env", "-u A B=c rm -f", "-u=A | B=c rm -f"},
		{"find", ". -name x -exec rm {} ; -print", "-name=x -exec -print | ."},
		{"bash", "+x -o errexit -c a", "-o=errexit -c | a"},
		{"python3.12", "-c x y", "-c=x | y"},
	} {
		a := Lookup(c.name).Parse(strings.Fields(c.line))
		var got []string
		for _, o := range a.Options {
			s := o.Name
			if o.HasValue {
				s += "=" + o.Value
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " ") + " | " + strings.Join(a.Operands, " "); s != c.want {
			t.Errorf("%s %s: got %q, want %q", c.name, c.line, s, c.want)
		}
	}
}
