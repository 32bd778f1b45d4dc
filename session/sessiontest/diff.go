package sessiontest

import "strings"

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

// diff shows how two short texts differ: all lines, those of both once, the others marked.
// It is the textbook's longest common subsequence; screens are small.
func diff(want, got []string) string {
	common := make([][]int, len(want)+1) // of want[i:] and got[j:], lines
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var b strings.Builder
	line := func(mark byte, s string) {
		b.WriteByte(mark)
		b.WriteString(s)
		b.WriteByte('\n')
	}
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			line(' ', want[i])
			i, j = i+1, j+1
		case j == len(got) || i < len(want) && common[i+1][j] >= common[i][j+1]:
			line('-', want[i])
			i++
		default:
			line('+', got[j])
			j++
		}
	}
	return b.String()
}
