package damage

import (
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// Kind is the kind of damage.
type Kind uint8

// Kinds of damage.
const (
	Disk      Kind = iota // the content of a disk is destroyed, if the word is a disk
	Tree                  // a directory is removed, or emptied, with its content
	Into                  // files are put into a directory and may overwrite others
	File                  // a file is written
	Volume                // the content of disks is destroyed, without a disk's path among the words
	System                // the machine's firmware, packages, network or the running system is damaged
	Elsewhere             // it publishes, destroys or rewrites data on other machines, where no local backup helps
	Denies                // as Elsewhere or Volume, and denied without an approval request
)

// Effect is what a program does to one of its words.
type Effect struct {
	Kind Kind
	Word string // the affected word, or empty; of Disk: also for values of its options
	Why  string // used without a Word
}

// Row is what a kind of program does, under which conditions. Lists are words separated by blanks.
type Row struct {
	Programs string
	Verbs    string // its operands start with one of these; "env/remove" are two of them
	With     string // one of these is among its words; "x=*" matches a prefix
	Without  string // none of these is
	Any      string // one of these is among its words, too

	Kind Kind
	Of   string // which words: all, first, last, rest (behind the first), or options whose value it is
	Why  string
}

// rows maps programs to their rows.
var rows = sync.OnceValue(func() map[string][]*Row {
	byName := map[string][]*Row{}
	for i := range table {
		for name := range strings.FieldsSeq(table[i].Programs) {
			byName[name] = append(byName[name], &table[i])
		}
	}
	return byName
})

// Effects returns what a program does. words are all behind its name; args are the same, taken apart.
func Effects(name string, words []string, args *programs.Args) (all []Effect) {
	list := rows()[name]
	if list == nil && strings.HasPrefix(name, "mkfs.") {
		list = rows()["mkfs"]
	}
	for _, r := range list {
		operands, is := r.applies(words, args)
		switch {
		case !is:
		case r.Why != "":
			all = append(all, Effect{Kind: r.Kind, Why: r.Why})
		default:
			if r.Kind == Disk {
				all = append(all, Effect{Kind: Disk})
			}
			for _, word := range r.targetWords(words, operands) {
				all = append(all, Effect{Kind: r.Kind, Word: word})
			}
		}
	}
	return all
}

// All calls f for each row.
func All(f func(Row)) {
	for _, r := range table {
		f(r)
	}
}

// applies reports whether the conditions hold, and returns the operands behind the verb.
func (r *Row) applies(words []string, args *programs.Args) ([]string, bool) {
	operands := args.Operands
	has := func(list string) bool {
		return listHasAny(list, words) || slices.ContainsFunc(args.Options, func(o programs.Option) bool { return listHasAny(list, []string{o.Name}) })
	}
	switch {
	case r.With != "" && !has(r.With), r.Without != "" && has(r.Without), r.Any != "" && !listHasAny(r.Any, words):
		return nil, false
	case r.Verbs == "":
		return operands, true
	}
	for verb := range strings.FieldsSeq(r.Verbs) {
		parts := strings.Split(verb, "/")
		if len(operands) >= len(parts) && slices.EqualFunc(parts, operands[:len(parts)], func(a, b string) bool { return listHasAny(a, []string{strings.ToLower(b)}) }) {
			return operands[len(parts):], true
		}
	}
	return nil, false
}

// targetWords returns the words that a row is about.
func (r *Row) targetWords(words, operands []string) []string {
	n := len(operands)
	switch r.Of {
	case "all":
		return operands
	case "first":
		return operands[:min(1, n)]
	case "rest":
		return operands[min(1, n):]
	case "last":
		return operands[max(0, n-1):]
	}
	return values(r.Of, words)
}

// values returns the values of some options: the next word, or a joined one.
func values(options string, words []string) (all []string) {
	for i, word := range words {
		for option := range strings.FieldsSeq(options) {
			rest, is := strings.CutPrefix(word, option)
			if !is {
				continue
			}
			switch {
			case rest == "" && !strings.HasSuffix(option, "=") && i+1 < len(words):
				all = append(all, words[i+1])
			case strings.HasSuffix(option, "=") || rest != "" && rest[0] == '=' || len(option) == 2 && option[0] == '-' && rest != "":
				all = append(all, strings.TrimPrefix(rest, "="))
			default:
				continue
			}
			break
		}
	}
	return all
}

// listHasAny reports whether a list has one of the words; "x*" matches a prefix.
func listHasAny(list string, words []string) bool {
	for one := range strings.FieldsSeq(list) {
		begin, open := strings.CutSuffix(one, "*")
		if slices.ContainsFunc(words, func(word string) bool { return word == one || open && strings.HasPrefix(word, begin) }) {
			return true
		}
	}
	return false
}
