package help

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/session/suggestname"
)

// FlagError returns an error about flags in longterm's wording: what is wrong, and what is accepted.
func FlagError(c *cobra.Command, err error) error {
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("%s: %s missing", flagName(missing.GetSpecifiedName()), valueOf(missing.GetFlag()))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return fmt.Errorf("--%s %q: invalid value (%s)", f.Name, invalid.GetValue(), accepts(f, invalid.Unwrap()))
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := suggestname.Nearest(name, names); near != "" && len(name) > 1 {
			return fmt.Errorf("unknown flag: --%s; did you mean --%s?", name, near)
		}
		return fmt.Errorf("unknown flag: %s", flagName(name))
	}
	return err
}

// flagName returns a flag with its dashes.
func flagName(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// valueOf returns the name of a flag's value.
func valueOf(f *pflag.Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	return cmp.Or(name, "value")
}

// accepts returns what a flag accepts, or the flag's own reason.
func accepts(f *pflag.Flag, err error) string {
	switch f.Value.Type() {
	case "duration":
		return "use a duration such as 30s, 5m or 1h30m"
	case "int", "int64", "uint", "uint16", "uint64", "intSlice":
		return "use a whole number"
	case "float64", "float32":
		return "use a number such as 1.5"
	case "bool":
		return "use true or false"
	}
	return fmt.Sprint(err)
}

var (
	// errTogether, errAll, errOneOf and errRequired match cobra's errors about groups of flags.
	errTogether = pattern.Lazy(`none of the others can be; \[(.*)\] were all set`)
	errAll      = pattern.Lazy(`if any flags in the group \[(.*)\] are set they must all be set; missing \[(.*)\]`)
	errOneOf    = pattern.Lazy(`at least one of the flags in the group \[(.*)\] is required`)
	errRequired = pattern.Lazy(`required flag\(s\) (.*) not set`)
)

// GroupError returns cobra's error about flags that exclude or require each other in longterm's wording.
func GroupError(err error) error {
	dashes := func(list, sep string) string {
		names := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == '"' || r == ',' })
		for i := range names {
			names[i] = "--" + names[i]
		}
		return strings.Join(names, sep)
	}
	text := fmt.Sprint(err)
	if m := errTogether.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s exclude each other", dashes(m[1], " and "))
	}
	if m := errAll.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s missing: required together with the others of %s", dashes(m[2], ", "), dashes(m[1], ", "))
	}
	if m := errOneOf.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s missing", dashes(m[1], " or "))
	}
	if m := errRequired.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s missing", dashes(m[1], ", "))
	}
	return err
}

// maxArgsTried is the largest number of arguments that ArgsError tries to find the accepted number.
const maxArgsTried = 9

// ArgsError returns an error about the number of arguments in longterm's wording: the first missing or the first excess
// argument. check is the rule that the arguments broke.
func ArgsError(c *cobra.Command, check cobra.PositionalArgs, args []string, err error) error {
	if text := err.Error(); !strings.Contains(text, "arg(s)") && !strings.Contains(text, "unknown command") {
		return err
	}
	least := 0
	for least < maxArgsTried && check(c, make([]string, least)) != nil {
		least++
	}
	if len(args) < least {
		var names []string
		for _, w := range strings.Fields(c.Use)[1:] {
			if !strings.HasPrefix(w, "[") && !strings.HasPrefix(w, "-") {
				if w = strings.Trim(w, "(…)"); w == "S" {
					w = "session S"
				}
				names = append(names, w)
			}
		}
		if len(args) < len(names) {
			return fmt.Errorf("%s missing", strings.Join(names[len(args):max(len(args)+1, min(least, len(names)))], " and "))
		}
		return fmt.Errorf("argument missing: %d given, %d needed", len(args), least)
	}
	most := least
	for most < maxArgsTried && check(c, make([]string, most+1)) == nil {
		most++
	}
	if most < len(args) {
		return fmt.Errorf("unexpected argument %q", args[most])
	}
	return err
}

// OptionalValueHint returns a hint for a flag with an optional value that was given as the next word, or "". words are the
// arguments of c as typed.
func OptionalValueHint(c *cobra.Command, words []string) string {
	for i, word := range words[:max(0, len(words)-1)] {
		name, ok := strings.CutPrefix(word, "--")
		if name == "" {
			return "" // the following words are no flags
		}
		if f := c.Flags().Lookup(name); ok && f != nil && f.Changed && f.NoOptDefVal != "" && isValueOf(c, f, words[i+1]) {
			return fmt.Sprintf("the value of --%s goes after `=`: `%s`", name, shellquote.Line([]string{word + "=" + words[i+1]}))
		}
	}
	return ""
}

// isValueOf reports whether a word after a flag with an optional value looks like that value.
func isValueOf(c *cobra.Command, f *pflag.Flag, word string) bool {
	switch f.Value.Type() {
	case "duration":
		_, err := time.ParseDuration(word)
		return err == nil
	case "int":
		_, err := strconv.Atoi(word)
		return err == nil
	case "string", "stringArray": // it was read as a command, if the verb has one
		_, err := exec.LookPath(word)
		return err != nil && !strings.HasPrefix(word, "-") && strings.Contains(c.Use, "CMD")
	}
	return false
}
