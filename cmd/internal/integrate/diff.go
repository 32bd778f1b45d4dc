package integrate

import (
	"fmt"
	"slices"
	"strings"
)

// contextLines is the number of equal lines shown around a difference.
const contextLines = 3

// maxTable limits the comparison, in pairs of lines. Beyond it, everything between the first and the last difference
// counts as changed.
const maxTable = 4 << 20

// Diff returns the differences between two texts as a unified diff without file names.
func Diff(before, after string) string {
	a, b := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
	edits := compare(a, b)
	var out strings.Builder
	for i := 0; i < len(edits); {
		if edits[i].sign == ' ' {
			i++
			continue
		}
		from, to := max(0, i-contextLines), i
		for quiet := 0; to < len(edits) && quiet <= 2*contextLines; to++ {
			if quiet++; edits[to].sign != ' ' {
				quiet = 0
			}
		}
		for to > 0 && to-1 > i && edits[to-1].sign == ' ' {
			to--
		}
		end := min(len(edits), to+contextLines)
		writeHunk(&out, edits[from:end])
		i = end
	}
	return out.String()
}

// edit is a line of a diff.
type edit struct {
	sign             byte // ' ', '-', '+'
	line             string
	oldLine, newLine int // line numbers in both texts, from 0
}

// writeHunk writes one hunk of a unified diff.
func writeHunk(out *strings.Builder, edits []edit) {
	var na, nb int
	for _, e := range edits {
		if e.sign != '+' {
			na++
		}
		if e.sign != '-' {
			nb++
		}
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", edits[0].oldLine+min(1, na), na, edits[0].newLine+min(1, nb), nb)
	for _, e := range edits {
		fmt.Fprintf(out, "%c%s", e.sign, e.line)
		if !strings.HasSuffix(e.line, "\n") {
			out.WriteString("\n\\ no newline at the end\n")
		}
	}
}

// compare returns the edits that turn a into b. It keeps the longest common subsequence of lines.
func compare(a, b []string) (edits []edit) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for i := range head {
		edits = append(edits, edit{' ', a[i], i, i})
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	i, j := 0, 0
	if len(x)*len(y) <= maxTable {
		common := lcsTable(x, y)
		for i < len(x) && j < len(y) {
			switch {
			case x[i] == y[j]:
				edits = append(edits, edit{' ', x[i], head + i, head + j})
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				edits = append(edits, edit{'-', x[i], head + i, head + j})
				i++
			default:
				edits = append(edits, edit{'+', y[j], head + i, head + j})
				j++
			}
		}
	}
	for ; i < len(x); i++ {
		edits = append(edits, edit{'-', x[i], head + i, head + j})
	}
	for ; j < len(y); j++ {
		edits = append(edits, edit{'+', y[j], head + i, head + j})
	}
	for k := range tail {
		edits = append(edits, edit{' ', a[len(a)-tail+k], len(a) - tail + k, len(b) - tail + k})
	}
	return edits
}

// lcsTable returns the length of the longest common subsequence for each pair of suffixes of x and y.
func lcsTable(x, y []string) [][]int32 {
	t := make([][]int32, len(x)+1)
	for i := range t {
		t[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				t[i][j] = t[i+1][j+1] + 1
			} else {
				t[i][j] = max(t[i+1][j], t[i][j+1])
			}
		}
	}
	return t
}
