package inputdetect

import (
	"strconv"
	"strings"
)

// maxMenuRows is the greatest distance between the cursor and a menu.
const maxMenuRows = 20

// hasNumberedList reports whether the rows right above the cursor are a list of choices: increasing numbers.
func hasNumberedList(above []string) bool {
	n, want := 0, -1
	for i := len(above) - 1; i >= max(0, len(above)-maxMenuRows); i-- {
		line := lineEnd(above[i])
		m := numberedChoice.FindStringSubmatch(line)
		if m == nil {
			// A heading, a blank or an explanation may come between list and prompt.
			if n == 0 && i >= len(above)-3 {
				continue
			}
			break
		}
		k, _ := strconv.Atoi(m[1])
		if want >= 0 && k != want {
			break
		}
		n, want = n+1, k-1
	}
	return n >= 2
}

// hasArrowMenu reports whether the rows around the cursor are choices, one of them marked.
func hasArrowMenu(f *Evidence) bool {
	rows := append([]string(nil), f.Above[max(0, len(f.Above)-maxMenuRows):]...)
	rows = append(rows, f.Line+f.After)
	rows = append(rows, f.Below[:min(len(f.Below), maxMenuRows)]...)
	hasHeading, marks := false, 0
	for i, row := range rows {
		row = lineEnd(row)
		if hasHeading = hasHeading || menuHeading.MatchString(row); !hasHeading {
			continue
		}
		if markedChoice.MatchString(row) && !menuHeading.MatchString(row) {
			marks++
		}
		if m := pointedChoice.FindStringSubmatch(row); m != nil && (isSiblingChoice(rows, i-1, m[1]) || isSiblingChoice(rows, i+1, m[1])) {
			marks++
		}
	}
	if marks > 0 {
		return true
	}
	return hasPlainArrows(rows)
}

// isSiblingChoice reports whether row i is an unmarked choice with the same indentation.
func isSiblingChoice(rows []string, i int, indent string) bool {
	if i < 0 || i >= len(rows) {
		return false
	}
	rest, ok := strings.CutPrefix(rows[i], indent+"  ")
	return ok && rest != "" && rest[0] != ' '
}

// hasPlainArrows reports whether a marked row is among similar rows, without a recognizable heading.
func hasPlainArrows(rows []string) bool {
	for i, row := range rows {
		row = strings.TrimLeft(lineEnd(row), " ")
		for _, mark := range []string{"❯ ", "▸ ", "▶ ", "➤ ", "› ", "► "} {
			indent := strings.Repeat(" ", len(rows[i])-len(strings.TrimLeft(rows[i], " ")))
			if strings.HasPrefix(row, mark) && (isSiblingChoice(rows, i-1, indent) || isSiblingChoice(rows, i+1, indent)) {
				return true
			}
		}
	}
	return false
}
