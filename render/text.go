package render

// TextOptions sets how rows become text.
type TextOptions struct {
	// Unwrap joins rows that the terminal wrapped back into the lines that were printed.
	Unwrap bool
	// KeepEmpty keeps empty rows at the end.
	KeepEmpty bool
}

// Text appends the history lines and rows of a screen, each ended by a newline.
func Text(dst []byte, s *Screen, o TextOptions) []byte {
	rows := s.Lines
	if !o.KeepEmpty {
		for len(rows) > 0 && rows[len(rows)-1].Text == "" {
			rows = rows[:len(rows)-1]
		}
	}
	open := false
	for _, lines := range [][]Line{s.Scrollback, rows} {
		for i := range lines {
			dst = append(dst, lines[i].Text...)
			if open = o.Unwrap && lines[i].Wrapped; !open {
				dst = append(dst, '\n')
			}
		}
	}
	if open { // the last line continues below the requested rows
		dst = append(dst, '\n')
	}
	return dst
}
