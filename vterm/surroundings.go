package vterm

// SetLightScheme tells what the colour scheme around the terminal is, and tells programs
// that asked to hear of it (mode 2031).
func (t *Terminal) SetLightScheme(light bool) {
	if t.opts.LightScheme == light {
		return
	}
	t.opts.LightScheme = light
	if t.modes&modeScheme != 0 {
		t.replyCSI("?997;%dn", t.scheme())
	}
}

// SetCellSize changes the pixel size of a cell as reported to programs.
func (t *Terminal) SetCellSize(width, height int) {
	if width <= 0 || height <= 0 || width == t.opts.CellWidth && height == t.opts.CellHeight {
		return
	}
	t.opts.CellWidth, t.opts.CellHeight = width, height
	if t.modes&modeInBandResize != 0 {
		t.reportSize()
	}
}
