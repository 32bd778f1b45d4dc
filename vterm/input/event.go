package input

// Mods are the modifier keys, bits as in the kitty keyboard protocol (value minus 1).
type Mods uint8

// Modifiers.
const (
	Shift Mods = 1 << iota
	Alt
	Ctrl
	Super
	Hyper
	Meta
	CapsLock
	NumLock
)

// KeyAction is a press, repeat or release.
type KeyAction uint8

// Key actions.
const (
	KeyPress KeyAction = iota
	KeyRepeat
	KeyRelease
)

// Key is a key event. Code is the unshifted code point of a printing key, or one of the named keys below, which are
// above the Unicode range.
type Key struct {
	Code    rune
	Mods    Mods
	Action  KeyAction
	Text    string // the typed text; if "", derived from Code and Mods
	Shifted rune   // code point with Shift, if known
	Base    rune   // code point on the standard (US) layout, if known
}

// Named keys.
const (
	KeyNone rune = 0x110000 + iota
	KeyUp
	KeyDown
	KeyRight
	KeyLeft
	KeyHome
	KeyEnd
	KeyInsert
	KeyDelete
	KeyPageUp
	KeyPageDown
	KeyEnter
	KeyTab
	KeyBackspace
	KeyEscape
	KeySpace
	KeyMenu
	KeyPrintScreen
	KeyPause
	KeyCapsLock
	KeyScrollLock
	KeyNumLock
	KeyF1 // F1 to F35 are consecutive
)

// KeyF35 is the last function key; KeyKP0 and the rest of the keypad follow it.
const (
	KeyF35 = KeyF1 + 34
	KeyKP0 = KeyF35 + 1 // KP0 to KP9 are consecutive
)

// Keypad keys.
const (
	KeyKP9 = KeyKP0 + 9 + iota
	KeyKPDecimal
	KeyKPDivide
	KeyKPMultiply
	KeyKPSubtract
	KeyKPAdd
	KeyKPEnter
	KeyKPEqual
	KeyKPSeparator
	KeyKPLeft
	KeyKPRight
	KeyKPUp
	KeyKPDown
	KeyKPPageUp
	KeyKPPageDown
	KeyKPHome
	KeyKPEnd
	KeyKPInsert
	KeyKPDelete
	KeyKPBegin
)

// Button is a mouse button.
type Button uint8

// Mouse buttons.
const (
	ButtonNone Button = iota
	ButtonLeft
	ButtonMiddle
	ButtonRight
	ButtonWheelUp
	ButtonWheelDown
	ButtonWheelLeft
	ButtonWheelRight
	ButtonBack
	ButtonForward
)

// MouseAction is a press, release or motion.
type MouseAction uint8

// Mouse actions.
const (
	MousePress MouseAction = iota
	MouseRelease
	MouseMotion // with a button: drag
)

// Mouse is a mouse event. Row and Col are cells. PixelX and PixelY are the position in pixels if it is known more
// precisely than by cell, else 0.
type Mouse struct {
	Button         Button
	Action         MouseAction
	Mods           Mods
	Row, Col       int
	PixelX, PixelY int
}
