package rulebook

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Allow adds rules that a person decided on to his file, and has them count at once. The text is one as
// ParseTexts reads it, why goes into a comment with the time.
func (b *Book) Allow(text, why string) error {
	rules, err := ParseTexts(text)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if err := b.Append(r, why); err != nil {
			return err
		}
	}
	return nil
}

// Append adds a rule to the person's file, and has it count at once.
func (b *Book) Append(r policy.Rule, why string) error {
	err := AppendRule(b.o.File, r, why+", "+b.o.now().Format("2006-01-02 15:04:05"))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(b.person, true)
	return err
}

// appending has one append after the other.
var appending sync.Mutex

// AppendRule adds a rule to the end of a file of rules, which is made if it is not there; all else in it stays
// as it is. The file has to be in order before, and is afterwards: else nothing is written.
func AppendRule(file string, r policy.Rule, comment string) error {
	if slices.ContainsFunc(r.Words, func(w string) bool { return !utf8.ValidString(w) }) {
		return errors.New("the rule has bytes that are no UTF-8, and a file of rules holds nothing else; it can be allowed once or for the session")
	}
	appending.Lock()
	defer appending.Unlock()
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	for range 10 { // an editor may write it meanwhile
		old, mode, err := textOf(file)
		if err != nil {
			return err
		}
		if _, err := Decode(file, old, false); err != nil {
			return fmt.Errorf("%w; put that right first", err)
		}
		block := RuleTOML(r, comment)
		if len(old) > 0 {
			if !bytes.HasSuffix(old, []byte("\n")) {
				block = "\n" + block
			}
			block = "\n" + block
		}
		added := slices.Concat(old, []byte(block))
		if _, err := Decode(file, added, false); err != nil {
			return fmt.Errorf("the rule cannot be added: %w", err)
		}
		if now, _, err := textOf(file); err != nil || !bytes.Equal(now, old) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("add a rule: %w", err)
		}
		o := atomicfile.Options{Sync: atomicfile.ContentAndName, Mode: mode, Shared: true}
		if err := atomicfile.Write(file, o, added); err != nil {
			return fmt.Errorf("add a rule: %w", err)
		}
		return nil
	}
	return fmt.Errorf("%s is being written all the time; try again", file)
}

// textOf is a file's content and mode; of one that is not there, none.
func textOf(file string) ([]byte, fs.FileMode, error) {
	c, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0o600, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return c.src, c.st.Mode().Perm(), nil
}

// RuleTOML writes a rule as a file of rules has it.
func RuleTOML(r policy.Rule, comment string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(comment), "\n") {
		if line != "" {
			b.WriteString("# " + strings.Map(printable, line) + "\n")
		}
	}
	b.WriteString("[[rules]]\n")
	line := func(key, value string) { fmt.Fprintf(&b, "%s = %s\n", key, value) }
	text := func(key, value string) {
		if value != "" {
			line(key, tomldoc.Quote(value))
		}
	}
	list := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = tomldoc.Quote(v)
		}
		line(key, "["+strings.Join(quoted, ", ")+"]")
	}
	if r.Name != r.String() {
		text("name", r.Name)
	}
	text("program", r.Program)
	list("words", r.Words)
	list("options", r.Options)
	if r.Exact {
		line("exact", "true")
	}
	text("decision", r.Decision.String())
	list("cwd", r.Roots)
	if r.Why != "a rule says "+r.String() {
		text("reason", r.Why)
	}
	text("instead", r.Instead)
	list("match", r.Match)
	list("not_match", r.NotMatch)
	return b.String()
}

// printable leaves out of a comment what would end it, or confuse who reads it.
func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' {
		return '\uFFFD'
	}
	return r
}

// ParseText reads a rule as judgements and approvals show it: "git push", "allow git push --force",
// "deny curl", "allow exactly rm -rf 'my build'". Without a decision it allows. Words may be quoted as in
// a shell; nothing in them is expanded.
func ParseText(text string) (policy.Rule, error) {
	words, err := policy.SplitWords(text)
	if err != nil {
		return policy.Rule{}, err
	}
	r := policy.Rule{Decision: policy.Allow}
	if len(words) > 1 {
		for _, v := range []policy.Verdict{policy.Allow, policy.Ask, policy.Deny} {
			if words[0] == v.String() {
				r.Decision, words = v, words[1:]
				break
			}
		}
	}
	if len(words) > 1 && words[0] == "exactly" {
		r.Exact, words = true, words[1:]
	}
	if len(words) == 0 {
		return policy.Rule{}, errors.New("the rule is empty: name a program, as in \"git push\"")
	}
	r.Program, words = words[0], words[1:]
	for _, w := range words {
		if !r.Exact && strings.HasPrefix(w, "-") {
			r.Options = append(r.Options, w)
		} else {
			r.Words = append(r.Words, w)
		}
	}
	r.Name = r.String()
	return r, nil
}

// ParseTexts reads rules with semicolons between them.
func ParseTexts(text string) ([]policy.Rule, error) {
	var rules []policy.Rule
	quote, from := byte(0), 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ';' && quote == 0:
			if strings.TrimSpace(text[from:i]) == "" && len(rules) > 0 {
				from = i + 1
				continue // one at the end
			}
			r, err := ParseText(text[from:i])
			if err != nil {
				return nil, err
			}
			rules, from = append(rules, r), i+1
		case text[i] == '\\' && quote != '\'':
			i = min(i+1, len(text)-1)
		case quote != 0 && text[i] == quote:
			quote = 0
		case quote == 0 && text[i] == '$' && strings.HasPrefix(text[i+1:], "'"):
			if end := policy.EscapedEnd(text, i); end > 0 { // else what reads the rule says that it has no end
				i = end
			}
		case quote == 0 && (text[i] == '\'' || text[i] == '"'):
			quote = text[i]
		}
	}
	return rules, nil
}
