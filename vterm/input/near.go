package input

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// KeyError reports an unknown key name.
type KeyError struct {
	Name string   // as given
	Near []string // similar names, the most similar first
}

func (e *KeyError) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("unknown key %q (a literal < is written <lt>)", e.Name)
	}
	return fmt.Sprintf("unknown key %q; did you mean %s? (a literal < is written <lt>)",
		e.Name, strings.Join(e.Near, ", "))
}

// keyAliases maps names that are not in keyTable.
var keyAliases = map[string]Key{
	"btab":      {Code: KeyTab, Mods: Shift},
	"nl":        {Code: 'j', Mods: Ctrl},
	"linefeed":  {Code: 'j', Mods: Ctrl},
	"nul":       {Code: KeySpace, Mods: Ctrl},
	"lt":        {Code: '<'},
	"gt":        {Code: '>'},
	"bar":       {Code: '|'},
	"bslash":    {Code: '\\'},
	"backslash": {Code: '\\'},
	"plus":      {Code: '+'},
	"minus":     {Code: '-'},
}

// keysByName maps all names in lower case to keys.
var keysByName = sync.OnceValue(func() map[string]Key {
	names := maps.Clone(keyAliases)
	for i, row := range keyTable {
		for name := range strings.FieldsSeq(row.names) {
			names[strings.ToLower(name)] = Key{Code: KeyNone + rune(i)}
		}
	}
	return names
})

const (
	maxNear     = 3 // number of suggested names
	maxDistance = 2 // largest edit distance of a suggestion
)

// nearKeys returns the names that differ from name by few letters, in their usual spelling.
func nearKeys(name string) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	name = strings.ToLower(name)
	if len(name) > 32 {
		return nil
	}
	add := func(s string) {
		d := editDistance(name, strings.ToLower(s))
		if d <= min(maxDistance, max(len(name)-1, 1)) || len(name) > 2 && strings.HasPrefix(strings.ToLower(s), name) {
			found = append(found, near{s, d})
		}
	}
	for _, row := range keyTable {
		for s := range strings.FieldsSeq(row.names) {
			add(s)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(keyAliases)) {
		add(s)
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, f := range found[:min(len(found), maxNear)] {
		names = append(names, f.name)
	}
	return names
}

// editDistance returns the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
