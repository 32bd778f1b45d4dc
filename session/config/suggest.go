package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/suggestname"
)

// suggest returns a hint with the name that was probably meant, or "". A key of the same name in another section counts like
// a misspelling.
func suggest(name string, among []string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	best, far := "", len(last)/3+1
	for _, c := range among {
		if d := suggestname.Distance(name, c); d > 0 && d <= far && (best == "" || d < far) {
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
