package grid

import "github.com/longterm-dev/longterm/vterm/internal/color"

// Attrs are the boolean attributes of SGR.
type Attrs uint16

// Attributes, with the SGR parameter that sets each.
const (
	Bold       Attrs = 1 << iota // 1
	Faint                        // 2
	Italic                       // 3
	Blink                        // 5
	RapidBlink                   // 6
	Inverse                      // 7
	Conceal                      // 8
	Strike                       // 9
	Overline                     // 53
)

// Underline is the underline style (SGR 4:n, 21).
type Underline uint8

// Underline styles, numbered as in SGR 4:n.
const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// LinkID is an index into Frame.Links; 0 is no link.
type LinkID uint32

// Style is the look of a cell without its text. The zero Style is the default.
type Style struct {
	FG, BG    color.Color
	ULColor   color.Color // underline colour; default: the text's colour
	Attrs     Attrs
	Underline Underline
	Link      LinkID
}

// Link is a hyperlink (OSC 8).
type Link struct {
	ID  string // the program's id=, which joins cells of one link; may be empty
	URI string
}
