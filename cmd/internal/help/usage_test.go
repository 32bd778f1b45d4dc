package help

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"
)

// A value behind a space of a flag whose value is optional is an argument, and named in a hint.
//
// FAULT: J
func TestOptionalValueHint(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"--draft", "/"}, "the value of --draft goes after `=`: `--draft=/`"},
		{[]string{"--draft", "no such program"}, "the value of --draft goes after `=`: `'--draft=no such program'`"},
		{[]string{"--draft", "go", "test"}, ""},
		{[]string{"--draft", "--prove"}, ""},
		{[]string{"--draft=/", "/"}, ""},
		{[]string{"--", "--draft", "/"}, ""},
		{[]string{"--prove", "2s"}, "the value of --prove goes after `=`: `--prove=2s`"},
		{[]string{"--prove", "go"}, ""},
		{[]string{"--open", "3"}, "the value of --open goes after `=`: `--open=3`"},
		{[]string{"--json", "go"}, ""},
		{[]string{"--draft"}, ""},
	} {
		cmd := &cobra.Command{Use: "run [-- CMD…]"}
		f := cmd.Flags()
		f.StringArray("draft", nil, "`DIR`")
		f.Duration("prove", 0, "`DURATION`")
		f.Int("open", 0, "`NUMBER`")
		f.Bool("json", false, "JSON")
		f.Lookup("draft").NoOptDefVal, f.Lookup("prove").NoOptDefVal, f.Lookup("open").NoOptDefVal = "(project)", "1s", "1"
		f.SetInterspersed(false)
		if err := f.Parse(c.words); err != nil {
			t.Fatal(err)
		}
		if got := OptionalValueHint(cmd, c.words); got != c.want {
			t.Errorf("%q: %q, not %q", c.words, got, c.want)
		}
	}
}

// FAULT: J
func TestUsageErrors_NameWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		use   string
		check cobra.PositionalArgs
		args  []string
		want  string
	}{
		{"resize S COLSxROWS", cobra.ExactArgs(2), []string{"big", "40", "30"}, `unexpected argument "30"`},
		{"resize S COLSxROWS", cobra.ExactArgs(2), nil, "session S and COLSxROWS missing"},
		{"resize S COLSxROWS", cobra.ExactArgs(2), []string{"big"}, "COLSxROWS missing"},
		{"wait S… --for COND…", cobra.MinimumNArgs(1), nil, "session S missing"},
		{"jobs [S]", cobra.MaximumNArgs(1), []string{"a", "b"}, `unexpected argument "b"`},
		{"x", cobra.ExactArgs(1), nil, "argument missing: 0 given, 1 needed"},
		{"ls", cobra.NoArgs, []string{"a"}, `unexpected argument "a"`},
		{"x", func(*cobra.Command, []string) error { return errors.New("own words") }, nil, "own words"},
	} {
		cmd := &cobra.Command{Use: c.use}
		if got := ArgsError(cmd, c.check, c.args, c.check(cmd, c.args)).Error(); got != c.want {
			t.Errorf("%s %q: %q, not %q", c.use, c.args, got, c.want)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--timeout"}, "--timeout: duration missing"},
		{[]string{"-n"}, "-n: NAME missing"},
		{[]string{"--timeout", "abc"}, `--timeout "abc": invalid value (use a duration such as 30s, 5m or 1h30m)`},
		{[]string{"--cols=x"}, `--cols "x": invalid value (use a whole number)`},
		{[]string{"--scale=x"}, `--scale "x": invalid value (use a number such as 1.5)`},
		{[]string{"--json=x"}, `--json "x": invalid value (use true or false)`},
		{[]string{"--timeuot", "1s"}, "unknown flag: --timeuot; did you mean --timeout?"},
		{[]string{"--frobnicate"}, "unknown flag: --frobnicate"},
		{[]string{"-Z"}, "unknown flag: -Z"},
	} {
		cmd := &cobra.Command{Use: "x"}
		f := cmd.Flags()
		f.Duration("timeout", 0, "limit")
		f.StringP("name", "n", "", "`NAME`")
		f.Int("cols", 0, "")
		f.Float64("scale", 0, "")
		f.Bool("json", false, "")
		if got := FlagError(cmd, cmd.ParseFlags(c.args)).Error(); got != c.want {
			t.Errorf("%q: %q, not %q", c.args, got, c.want)
		}
	}
	cmd := &cobra.Command{Use: "x"}
	for _, name := range []string{"yield", "timeout", "a", "b", "must"} {
		cmd.Flags().Bool(name, false, "")
	}
	cmd.MarkFlagsMutuallyExclusive("yield", "timeout")
	cmd.MarkFlagsRequiredTogether("a", "b")
	if err := errors.Join(cmd.ParseFlags([]string{"--yield", "--timeout"}), cmd.Flags().Set("a", "true")); err != nil {
		t.Fatal(err)
	}
	if got := GroupError(errors.New("required flag(s) \"must\" not set")).Error(); got != "--must missing" {
		t.Errorf("%q", got)
	}
	if got := GroupError(cmd.ValidateFlagGroups()).Error(); got != "--b missing: required together with the others of --a, --b" && got != "--timeout and --yield exclude each other" {
		t.Errorf("%q", got)
	}
}
