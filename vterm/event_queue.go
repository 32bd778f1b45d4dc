package vterm

// emit queues an event with the place where it happened.
func (t *Terminal) emit(e Event) {
	if len(t.events) >= EventQueueMax {
		t.eventsLost++
		return
	}
	e.At = t.written + uint64(t.at)
	e.Line = t.history.EndID() + uint64(t.cur.Row)
	e.Col = t.cur.Col
	t.events = append(t.events, e)
}

// Events implements Engine.
func (t *Terminal) Events(dst []Event) []Event {
	dst = append(dst, t.events...)
	if t.eventsLost > 0 {
		dst = append(dst, Event{Kind: EventLost, Num: t.eventsLost, At: t.written})
	}
	clear(t.events)
	t.events, t.eventsLost = t.events[:0], 0
	return dst
}

// Written implements Engine.
func (t *Terminal) Written() uint64 { return t.written }

// noticeModes emits EventModes when what readers may care about changed.
func (t *Terminal) noticeModes() {
	if m := t.Modes(); m != t.lastModes {
		t.lastModes = m
		t.emit(Event{Kind: EventModes})
	}
}

// Modes implements Engine.
func (t *Terminal) Modes() Modes {
	on := func(bit modeBits) bool { return t.modes&bit != 0 }
	m := Modes{
		AppCursor: on(modeAppCursor), AppKeypad: on(modeAppKeypad),
		BracketedPaste: on(modeBracketedPaste), FocusEvents: on(modeFocus),
		ReverseVideo: on(modeReverseVideo), NewLine: on(modeNewLine),
		BackarrowBS: on(modeBackarrow), AltScreen: t.scr != t.primary,
		AltScroll: on(modeAltScroll), Sync: on(modeSync),
		InBandResize: on(modeInBandResize), SchemeReports: on(modeScheme),
		Kitty: t.kitty[t.slot()].flags(), ModifyOtherKeys: t.keyFormat.modifyOther,
		FormatOtherKeys: t.keyFormat.formatOther,
		CellWidth:       t.opts.CellWidth, CellHeight: t.opts.CellHeight,
	}
	if t.modes&(mouseTrackings|mouseEncodings) != 0 {
		m.Mouse, m.MouseEncoding = mouseModes(t.modes)
	}
	return m
}

func mouseModes(b modeBits) (track MouseTracking, enc MouseEncoding) {
	switch {
	case b&modeMouseX10 != 0:
		track = MouseX10
	case b&modeMouseNormal != 0:
		track = MouseNormal
	case b&modeMouseButton != 0:
		track = MouseButton
	case b&modeMouseAny != 0:
		track = MouseAny
	}
	switch {
	case b&modeMouseUTF8 != 0:
		enc = MouseEncodingUTF8
	case b&modeMouseSGR != 0:
		enc = MouseEncodingSGR
	case b&modeMouseURXVT != 0:
		enc = MouseEncodingURXVT
	case b&modeMousePixel != 0:
		enc = MouseEncodingPixel
	}
	return track, enc
}
