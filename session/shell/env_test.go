package shell

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/shellquote"
)

// FEATURES: R46
func TestParseDeclarations(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Env
	}{
		{`declare -x A="b"`, Env{"A": "b"}},
		{"declare -x A=\"one\ntwo\"\ndeclare -x B", Env{"A": "one\ntwo"}},
		{`declare -x A="\$x \"q\" \\ \` + "`" + `"`, Env{"A": "$x \"q\" \\ `"}},
		{`declare -x A=$'a\tb\E\x41\101\u20ac\'\q'`, Env{"A": "a\tb\x1bAA€'\\q"}},
		{`declare -ix N="5"` + "\n" + `declare -rx R="r"`, Env{"N": "5", "R": "r"}},
		{`declare -ax L=([0]="a" [1]="b c")` + "\ndeclare -x A=\"1\"", Env{"A": "1"}},
		{`declare -a -x L=(a)` + "\ndeclare -x -A M=()\ndeclare -x A=\"1\"", Env{"A": "1"}},
		{`export A='it'"'"'s'`, Env{"A": "it's"}},
		{`export A='it'\''s'`, Env{"A": "it's"}},
		{"export A=plain/path:x\nexport B=", Env{"A": "plain/path:x", "B": ""}},
		{`export A=''\'''`, Env{"A": "'"}},
		{`typeset -x A=$'\n'`, Env{"A": "\n"}},
		{"", Env{}},
	} {
		got, err := ParseDeclarations(c.in)
		if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v; want %q", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{`declare -x A="`, `export A='`, `export A=$'`, "rm -rf /", `export =x`, `export A=b C=d`, `export A=\`, `declare -ax A=(`, `declare -ax A=(;)`} {
		_, err := ParseDeclarations(in)
		if se := (*SyntaxError)(nil); !errors.As(err, &se) {
			t.Errorf("%s: got error %v", in, err)
		}
	}
}

func TestParseEnviron(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Env
		n    uint64
		err  error
	}{
		{"longterm-env 1 nul 7\nA=1\x00B=x\ny\x00PWD=/\x00_=x\x00# end 7\n", Env{"A": "1", "B": "x\ny"}, 7, nil},
		{"longterm-env 1 sh 2\nexport A='1'\nexport PS1='x'\n# end 2\n", Env{"A": "1"}, 2, nil},
		{"longterm-env 1 nul 7\nA=1\x00# end 6\n", nil, 0, ErrIncompleteEnv},
		{"longterm-env 1 nul 7\nA=1\x00", nil, 0, ErrIncompleteEnv},
		{"", nil, 0, ErrIncompleteEnv},
		{"longterm-env 1 nul x\n# end x\n", nil, 0, ErrIncompleteEnv},
	} {
		got, n, err := ParseEnviron([]byte(c.in))
		if !maps.Equal(got, c.want) || n != c.n || !errors.Is(err, c.err) {
			t.Errorf("%q: got %q, %d, %v", c.in, got, n, err)
		}
	}
}

// FEATURES: R46
func TestDiffEnv(t *testing.T) {
	got := DiffEnv(Env{"SAME": "1", "OLD": "x", "CH": "1"}, Env{"SAME": "1", "CH": "2", "NEW": "n", "API_KEY": "k"})
	want := []EnvChange{
		{Name: "API_KEY", Kind: EnvSet, Redacted: true}, {Name: "CH", Kind: EnvChanged, Value: "2"},
		{Name: "NEW", Kind: EnvSet, Value: "n"}, {Name: "OLD", Kind: EnvUnset},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// FEATURES: R46
func TestIsSecret(t *testing.T) {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"GITHUB_TOKEN", "x", true}, {"token", "x", true}, {"DB_PASSWORD", "x", true}, {"PGPASSWORD", "x", true}, {"MYSQL_PWD", "x", true},
		{"AWS_SECRET_ACCESS_KEY", "x", true}, {"SSHKEY", "x", true}, {"STRIPE_KEYS", "x", true}, {"HTTP_AUTH", "x", true}, {"SENTRY_DSN", "x", true},
		{"TOKEN", "", false}, {"PWD", "/", false}, {"SSH_AUTH_SOCK", "/tmp/x", false}, {"KEYBOARD", "us", false}, {"MONKEYS", "3", false},
		{"PATH", "/usr/bin", false}, {"AUTHOR", "me", false}, {"PASSENGER", "x", false}, {"EDITOR", "vi", false},
		{"X", "AKIAIOSFODNN7EXAMPLE", true}, {"X", "ghp_0123456789abcdef0123", true}, {"X", "xoxb-1234567890-abc", true},
		{"X", "sk-abcdefghijklmnop1234", true}, {"X", "-----BEGIN RSA PRIVATE KEY-----\nx", true}, {"X", jwt, true},
		{"DATABASE_URL", "postgres://u:p@h/db", true}, {"URL", "https://u@h:8080/p", false}, {"URL", "https://h/p:x", false},
		{"X", "Bearer abcdefghijklmnopqrst", true}, {"X", "Server=x;Password=abc", true}, {"X", "task-force-one-two", false},
	} {
		if got := IsSecret(c.name, c.value); got != c.want {
			t.Errorf("%s=%s: got %v", c.name, c.value, got)
		}
	}
}

// FuzzParseDeclarations checks that any value survives the quoting of shells.
func FuzzParseDeclarations(f *testing.F) {
	for _, s := range []string{"", "a b", "it's", "\n", "\\", "$x`y`\"", "\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = ParseDeclarations(s) // for any text
		double := strings.NewReplacer("\\", "\\\\", `"`, `\"`, "$", "\\$", "`", "\\`").Replace(s)
		for _, quoted := range []string{
			shellquote.Word(s), "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'", `"` + double + `"`,
			"$'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(s) + "'",
		} {
			env, err := ParseDeclarations("export A=" + quoted + "\ndeclare -x B=\"1\"\n")
			if err != nil || env["A"] != s || env["B"] != "1" {
				t.Errorf("%q: %q, %v", quoted, env, err)
			}
		}
	})
}

func FuzzParseEnviron(f *testing.F) {
	f.Add([]byte("longterm-env 1 nul 7\nA=1\x00# end 7\n"))
	f.Add([]byte("longterm-env 1 sh 7\nexport A='1'\n# end 7\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		env, _, err := ParseEnviron(b)
		if (env == nil) != (err != nil) {
			t.Errorf("%q, %v", env, err)
		}
		for name := range env {
			if name == "" || isBookkeeping(name) {
				t.Errorf("variable %q", name)
			}
		}
	})
}
