package respond

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/vterm/input"
)

// ReplyKind is the kind of a Reply.
type ReplyKind string

// Kinds of replies. In the Value of text, keys and fail, $1 and ${name} are replaced by a group's match, $0 by the
// whole match and $$ by $; any other $ is literal. A hook has its captures separate from its value: output must not
// influence the command.
const (
	ReplyText   ReplyKind = "text"   // types Value as it is
	ReplyKeys   ReplyKind = "keys"   // presses keys: yes<Enter>
	ReplySecret ReplyKind = "secret" // types the secret that Value refers to
	ReplyHook   ReplyKind = "hook"   // runs the hook Value
	ReplyFail   ReplyKind = "fail"   // fails the rule's list with Value as the reason
	ReplyWait   ReplyKind = "wait"   // pauses for Wait
)

// Reply is one action of a rule that matched.
type Reply struct {
	Kind  ReplyKind     `json:"kind"`
	Value string        `json:"value,omitempty"`
	Wait  time.Duration `json:"wait_ns,omitempty"`
}

// secretKinds are the sources of secrets.
var secretKinds = []string{"env", "file", "cmd", "keyring"}

// CheckSecret returns an error for an invalid reference to a secret. Valid ones are env:NAME, file:PATH, cmd:COMMAND
// and keyring:SERVICE/ACCOUNT.
func CheckSecret(ref string) error {
	kind, name, ok := strings.Cut(ref, ":")
	for _, k := range secretKinds {
		if ok && k == kind && name != "" {
			return nil
		}
	}
	// The value is not shown: it may be the secret itself, given by mistake.
	return errors.New("a secret needs a reference: env:NAME, file:PATH, cmd:COMMAND or keyring:SERVICE/ACCOUNT")
}

// check returns an error for an invalid reply of a rule with pattern p.
func (r *Reply) check(p *pattern) error {
	switch r.Kind {
	case ReplyHook:
		if r.Value == "" {
			return fmt.Errorf("%s needs a value", r.Kind)
		}
		return nil
	case ReplyText, ReplyFail:
		if r.Value == "" {
			return fmt.Errorf("%s needs a value", r.Kind)
		}
		return p.checkRefs(r.Value)
	case ReplyKeys:
		if r.Value == "" {
			return errors.New("keys needs a value")
		}
		if err := p.checkRefs(r.Value); err != nil {
			return err
		}
		_, err := input.ParseKeys(p.expand(r.Value, nil, nil, nil))
		return err
	case ReplySecret:
		return CheckSecret(r.Value)
	case ReplyWait:
		if r.Wait <= 0 {
			return errors.New("wait needs a time")
		}
		return nil
	}
	return fmt.Errorf("unknown reply %q", r.Kind)
}

// checkRefs returns an error if a value refers to a group that the pattern does not have.
func (p *pattern) checkRefs(s string) error {
	var err error
	eachRef(s, func(string) {}, func(name string) {
		if err == nil && p.groupIndex(name) < 0 {
			err = fmt.Errorf("the pattern has no group %q (a literal $ is written $$)", name)
		}
	})
	return err
}

// groupIndex returns the index of the group with a name or number, or -1.
func (p *pattern) groupIndex(name string) int {
	if n, err := strconv.Atoi(name); err == nil {
		if n < len(p.names) {
			return n
		}
		return -1
	}
	return p.groupByName(name)
}

// expand replaces references in s by the groups' matches in text, converted by quote.
func (p *pattern) expand(s string, text []byte, loc []int, quote func(string) string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	var b strings.Builder
	eachRef(s, func(lit string) { b.WriteString(lit) }, func(name string) {
		if i := 2 * p.groupIndex(name); i >= 0 && i+1 < len(loc) && loc[i] >= 0 {
			b.WriteString(quote(string(text[loc[i]:loc[i+1]])))
		}
	})
	return b.String()
}

// eachRef splits a value into literal text and references to groups, and calls lit and ref for them in order.
func eachRef(s string, lit, ref func(string)) {
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			lit(s)
			return
		}
		lit(s[:i])
		s = s[i+1:]
		switch name, n := cutRef(s); {
		case n > 0:
			ref(name)
			s = s[n:]
		case strings.HasPrefix(s, "$"):
			lit("$")
			s = s[1:]
		default:
			lit("$")
		}
	}
}

// cutRef returns the name at the start of the text after a $, and its length in bytes.
func cutRef(s string) (name string, n int) {
	if strings.HasPrefix(s, "{") {
		if end := strings.IndexByte(s, '}'); end > 1 {
			return s[1:end], end + 1
		}
		return "", 0
	}
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], n
}

// quoteNone returns s unchanged.
func quoteNone(s string) string { return s }

// quoteKeys escapes text in key notation.
func quoteKeys(s string) string { return strings.ReplaceAll(s, "<", "<lt>") }
