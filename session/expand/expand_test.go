package expand

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// FEATURES: R79
func TestTemplate(t *testing.T) {
	status := func(n int) *int { return &n }
	for _, c := range []struct {
		template string
		args     []string
		outputs  []Output
		commands []string
		want     string
	}{
		{"no command, {{args}}", []string{"a b", "c"}, nil, nil, "no command, a b c"},
		{"x !{git log} y", nil, []Output{{Text: "one\ntwo\n", Exit: status(0)}}, []string{"git log"}, "x one\ntwo y"},
		{"!{ grep -e {{args}} . }: {{args}}", []string{"a'b", "$(x)"}, []Output{{Text: "r", Exit: status(0)}},
			[]string{`grep -e 'a'\''b' '$(x)' .`}, "r: a'b $(x)"},
		{"!{awk '{print $1}' f}", nil, []Output{{Text: "{{args}} !{x}", Exit: status(0)}}, []string{"awk '{print $1}' f"}, "{{args}} !{x}"},
		{"!{f {{args}}}", nil, []Output{{Exit: status(0)}}, []string{"f ''"}, ""},
		{"!{a}!{b}", nil, []Output{{Command: "a", Text: "bad\n", Exit: status(2)}, {Command: "b", Exit: status(1)}}, []string{"a", "b"},
			"bad\n[Shell command 'a' exited with code 2][Shell command 'b' exited with code 1]"},
		{"!{a}", nil, []Output{{Command: "a", Signal: "SIGKILL"}}, []string{"a"}, "[Shell command 'a' terminated by signal SIGKILL]"},
		{"!{a}", nil, []Output{{Command: "a", Signal: "SIGINT", Ended: "was ended: 1s"}}, []string{"a"}, "[Shell command 'a' was ended: 1s]"},
		{"! {a} {b} {{arg}} !", nil, nil, nil, "! {a} {b} {{arg}} !"},
	} {
		x, err := Parse(c.template)
		if err != nil {
			t.Errorf("%s: %v", c.template, err)
			continue
		}
		if got := x.Commands(c.args); !slices.Equal(got, c.commands) {
			t.Errorf("%s: %q", c.template, got)
		}
		if got := x.Text(c.args, c.outputs); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.template, got, c.want)
		}
	}
	for template, want := range map[string]string{
		"a\n!{ls": "line 2: !{ has no }", "!{ {}": "has no }", "!{ }": "no command", "\n\n!{ls '{{args}}'}": "line 3: {{args}} is quoted already",
		"!{ls \"{{args}}\"}": "quoted already", "!{ls \\{{args}}}": "quoted already", "!{cat <<E\n{{args}}\nE}": "quoted already",
		"!{ls # {{args}}}": "quoted already", "!{`ls {{args}}`}": "quoted already", "!{x \"$(ls {{args}})\"}": "quoted already",
		strings.Repeat("x", maxTemplate+1): "more than",
	} {
		if _, err := Parse(template); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", template, err)
		}
	}
}

// TestArgumentsAreWords checks that a shell takes any argument as a word.
func TestArgumentsAreWords(t *testing.T) {
	sh := tier.Path(t, "sh")
	args := []string{"", "a b", "$(echo x)", "`echo x`", "';echo x;'", "\\", "a\nb", "*", "~", "-e", "#x", "\"", "!{x}", placeholder}
	x, err := Parse("!{printf '<%s>' {{args}} # the end\n}")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(sh, "-c", x.Commands(args)[0]).Output()
	if want := "<" + strings.Join(args, "><") + ">"; err != nil || string(out) != want {
		t.Errorf("%v\n%q\nwant\n%q", err, out, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a !{b {c} {{args}}} d", "!{", "!{x '{{args}}'}", "}!{a}{", "!{a <<E # {{args}}}", "!{\\{{args}}}"} {
		f.Add(s, "x'y")
	}
	f.Fuzz(func(t *testing.T, src, arg string) {
		x, err := Parse(src)
		if err != nil {
			return
		}
		if strings.Contains(src, "!{") == (len(x.Commands(nil)) == 0) {
			t.Fatalf("%q has %d commands", src, len(x.Commands(nil)))
		}
		if !strings.Contains(src, "!{") && x.Text([]string{arg}, nil) != strings.ReplaceAll(src, placeholder, arg) {
			t.Fatalf("%q became %q", src, x.Text([]string{arg}, nil))
		}
	})
}
