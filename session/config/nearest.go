package config

import (
	"fmt"
	"slices"
	"strings"
)

// suggest names what was probably meant, or is empty. A key of the same name in another
// section is as good as a misspelling.
func suggest(name string, among []string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	best, far := "", len(last)/3+1
	for _, c := range among {
		if d := distance(name, c); d > 0 && d <= far && (best == "" || d < far) {
			best, far = c, d
		}
	}
	if best == "" {
		i := slices.IndexFunc(among, func(c string) bool { return strings.HasSuffix(c, "."+last) })
		if i < 0 {
			return ""
		}
		best = among[i]
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is Levenshtein's: letters to insert, delete or change.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return 100
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
