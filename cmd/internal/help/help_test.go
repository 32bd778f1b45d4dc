package help

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verb returns a verb with many flags below a root.
func verb() *cobra.Command {
	root := &cobra.Command{Use: "longterm", Long: "Root."}
	c := &cobra.Command{Use: "exec S", Run: func(*cobra.Command, []string) {}, Long: `A paragraph of the
long text, which is wrapped.

  longterm exec work make test   # an example stays as it is

  name=X   a meaning that is long enough to be wrapped,
           with its second line
  nm       short`}
	root.AddCommand(c)
	f := c.Flags()
	for _, name := range []string{"timeout", "wait", "json", "agent", "each-host", "each", "rows", "cpu", "raw", "digest", "kill", "id"} {
		f.String(name, "", "`VALUE` of "+name+", with 你好 and some words that do not fit a narrow terminal")
	}
	f.String("approval-timeout", "", "`DURATION`")
	root.PersistentFlags().String("host", "", "`HOST` to use")
	Install(root, nil)
	return c
}

// FAULT: H19
func TestPage_FitsTheWidth(t *testing.T) {
	for width := 40; width <= 200; width++ {
		for _, l := range strings.Split(Page(verb(), width, false, nil), "\n") {
			if uniseg.StringWidth(l) > width && !strings.Contains(l, "longterm exec work") {
				t.Fatalf("at %d: %q", width, l)
			}
		}
	}
	if Page(verb(), 1, false, nil) != Page(verb(), 20, false, nil) {
		t.Error("narrower than 20 cells differs from 20")
	}
}

// FAULT: H19
func TestPage_GroupsFlags_CommonFirst(t *testing.T) {
	page := Page(verb(), 80, false, nil)
	at := 0
	for _, part := range []string{
		"A paragraph of the long text, which is wrapped.\n\n", "  longterm exec work make test   # an example stays as it is\n",
		"  name=X   a meaning that is long enough to be wrapped, with its second line\n  nm       short\n",
		"\nUsage:\n  longterm exec S [flags]\n", "\nCommon flags:\n", "--timeout VALUE", "--wait VALUE", "\nOutput:\n", "--json VALUE", "\nFor agents:\n", "--agent",
		"\nTerminal and environment:\n", "--rows", "\nLimits and sandbox:\n", "--cpu", "\nAdvanced:\n", "--each VALUE", "--kill", "\nGlobal flags:\n", "-h, --help", "--host HOST",
	} {
		i := strings.Index(page[at:], part)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place:\n%s", part, page)
		}
		at += i
	}
	if strings.Contains(page, "\x1b") || !strings.Contains(Page(verb(), 80, true, nil), "\x1b[1mUsage:\x1b[22m\n") {
		t.Error("headings are bold only on a terminal")
	}
}

// TestPage_OrdersVerbs checks that a flag's value has a placeholder that a user can read, and brackets if it is optional.
func TestFlagHead(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringP("name", "n", "", "`NAME` of the session")
	f.StringArray("env", nil, "variable `NAME=VALUE`")
	f.StringArray("respond", nil, "rule")
	f.StringArray("draft", nil, "draft of `DIR`")
	f.Duration("timeout", 0, "limit")
	f.Int("rows", 0, "height")
	f.Bool("wait", false, "wait")
	f.Lookup("draft").NoOptDefVal = "(project)"
	for name, want := range map[string]string{
		"name": "  -n, --name NAME", "env": "      --env NAME=VALUE", "respond": "      --respond TEXT", "draft": "      --draft[=DIR]",
		"timeout": "      --timeout DURATION", "rows": "      --rows NUMBER", "wait": "      --wait",
	} {
		if got := flagHead(f.Lookup(name)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A group's verbs are in the given order, and that a verb with few flags has one list
// of them.
func TestPage_OrdersVerbs(t *testing.T) {
	root := &cobra.Command{Use: "longterm"}
	for _, name := range []string{"a", "b", "c"} {
		root.AddCommand(&cobra.Command{Use: name, Short: "Do " + name, Run: func(*cobra.Command, []string) {}})
	}
	root.Commands()[0].Flags().Bool("json", false, "JSON")
	page := Page(root, 80, false, []string{"c"})
	if !strings.Contains(page, "Commands:\n  c            Do c\n  a            Do a\n  b            Do b\n") && !strings.Contains(page, "Commands:\n  c   Do c\n  a   Do a\n  b   Do b\n") {
		t.Error(page)
	}
	if page := Page(root.Commands()[0], 80, false, nil); !strings.Contains(page, "\nFlags:\n      --json   JSON\n") {
		t.Error(page)
	}
}
