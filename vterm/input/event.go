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

// KeyAction says what a key did.
type KeyAction uint8

// Key actions.
const (
	KeyPress KeyAction = iota
	KeyRepeat
	KeyRelease
)

// Key is one key event. Code is the unshifted code point of a printing key, or one
// of the named keys below (all above the Unicode range).
type Key struct {
	Code    rune
	Mods    Mods
	Action  KeyAction
	Text    string // what the key types; empty: derived from Code and Mods
	Shifted rune   // code point with Shift, when known
	Base    rune   // code point on the standard (US) layout, when known
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

// MouseAction says what the mouse did.
type MouseAction uint8

// Mouse actions.
const (
	MousePress MouseAction = iota
	MouseRelease
	MouseMotion // with a button: drag
)

// Mouse is one mouse event. Row and Col are cells, PixelX and PixelY the position
// in pixels when it is known finer than by cell (0 otherwise).
type Mouse struct {
	Button         Button
	Action         MouseAction
	Mods           Mods
	Row, Col       int
	PixelX, PixelY int
}
