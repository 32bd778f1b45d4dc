package vterm

// MouseTracking is the kind of mouse events that the program requested.
type MouseTracking uint16

// Mouse tracking modes, valued as their DEC private mode numbers.
const (
	MouseOff    MouseTracking = 0
	MouseX10    MouseTracking = 9    // presses only
	MouseNormal MouseTracking = 1000 // presses and releases
	MouseButton MouseTracking = 1002 // and motion while a button is down
	MouseAny    MouseTracking = 1003 // and every motion
)

// MouseEncoding is how mouse reports are written.
type MouseEncoding uint16

// Mouse encodings, valued as their DEC private mode numbers.
const (
	MouseEncodingX10   MouseEncoding = 0 // CSI M Cb Cx Cy, one byte each
	MouseEncodingUTF8  MouseEncoding = 1005
	MouseEncodingSGR   MouseEncoding = 1006
	MouseEncodingURXVT MouseEncoding = 1015
	MouseEncodingPixel MouseEncoding = 1016 // SGR with pixel coordinates
)

// Flags of the kitty keyboard protocol (progressive enhancement).
const (
	KittyDisambiguate   = 1 << iota // 1
	KittyEventTypes                 // 2
	KittyAlternateKeys              // 4
	KittyAllAsEscapes               // 8
	KittyAssociatedText             // 16
	KittyFlagsAll       = 1<<iota - 1
)

// Modes is the part of a terminal's state that input encoders and viewers need.
type Modes struct {
	AppCursor      bool // DECCKM ?1: cursor keys send SS3
	AppKeypad      bool // DECNKM ?66, DECKPAM
	BracketedPaste bool // ?2004
	FocusEvents    bool // ?1004
	ReverseVideo   bool // DECSCNM ?5
	NewLine        bool // LNM 20: Enter sends CR LF
	BackarrowBS    bool // DECBKM ?67: Backspace sends BS, not DEL
	AltScreen      bool // the alternate screen is active
	AltScroll      bool // ?1007: wheel sends cursor keys on the alternate screen
	Sync           bool // ?2026: synchronized output is in progress, do not draw
	InBandResize   bool // ?2048
	SchemeReports  bool // ?2031: the program wants reports of colour scheme changes

	Mouse         MouseTracking
	MouseEncoding MouseEncoding

	Kitty           uint8 // kitty keyboard flags in force
	ModifyOtherKeys uint8 // XTMODKEYS resource 4: 0, 1, 2
	FormatOtherKeys uint8 // 1: CSI u form

	CellWidth, CellHeight int // pixels, for MouseEncodingPixel
}

// emitModeChange emits EventModes if relevant modes have changed.
func (t *Terminal) emitModeChange() {
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
