package help

import (
	"errors"
	"testing"

	"github.com/spf13/cobra"
)

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
