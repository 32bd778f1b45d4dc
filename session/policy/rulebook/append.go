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
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Allow adds rules that the user decided on to the user's file and applies them at once. ParseTexts reads the text; why
// goes into a comment with the time.
func (b *Book) Allow(text, why string) error {
	rules, err := policy.ParseTexts(text)
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

// Append adds a rule to the user's file and applies it at once.
func (b *Book) Append(r policy.Rule, why string) error {
	err := AppendRule(b.o.File, r, why+", "+b.o.now().Format("2006-01-02 15:04:05"))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reloadIfChanged(b.userFile, true)
	return err
}

// appendMu serializes writes to rule files.
var appendMu sync.Mutex

// AppendRule appends a rule to a rule file, which it creates if missing. All else in it stays. The file must be valid
// before and after; otherwise nothing is written.
func AppendRule(file string, r policy.Rule, comment string) error {
	if slices.ContainsFunc(slices.Concat([]string{r.Program}, r.Words, r.Options), func(w string) bool { return !utf8.ValidString(w) }) {
		return errors.New("the rule is not valid UTF-8, which rule files require; allow it once or for the session")
	}
	appendMu.Lock()
	defer appendMu.Unlock()
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	for range 10 { // an editor may write it meanwhile
		old, mode, err := readText(file)
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
		if now, _, err := readText(file); err != nil || !bytes.Equal(now, old) {
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

// readText returns a file's content and mode; nothing for a missing file.
func readText(file string) ([]byte, fs.FileMode, error) {
	c, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0o600, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return c.src, c.st.Mode().Perm(), nil
}

// RuleTOML formats a rule as TOML for a rule file.
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
			line(key, quote(value))
		}
	}
	list := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = quote(v)
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
	text("decision", r.VerdictText())
	list("cwd", r.Roots)
	if r.Why != "rule "+r.String() {
		text("reason", r.Why)
	}
	text("instead", r.Instead)
	list("match", r.Match)
	list("not_match", r.NotMatch)
	return b.String()
}

// quote returns a TOML string in which invisible characters are escaped, for users who read the file.
func quote(text string) string {
	if !strings.ContainsFunc(text, isInvisible) {
		return tomldoc.Quote(text)
	}
	var b strings.Builder
	for rest := text; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case isInvisible(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		case isInvisible(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		case r == '"' || r == '\\':
			b.WriteString(`\` + rest[:n])
		default:
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return `"` + b.String() + `"`
}

// isInvisible reports characters that are invisible or change the reading direction.
func isInvisible(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// printable replaces characters that would end a comment or mislead its reader.
func printable(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' {
		return '\uFFFD'
	}
	return r
}
