// Package render converts a vterm.Frame to forms for users and programs: styled spans (Screen), JSON, plain text and
// ANSI; and a Screen to HTML, SVG and Markdown. All functions are pure: they use no terminal, file or clock. Package
// pixel draws pixels, package anim makes animations.
//
// Rows and columns are cells, 0-based.
package render

import "github.com/longterm-dev/longterm/vterm"

// Screen is a screen as lines of spans. Its JSON form is the product's screen format.
type Screen struct {
	Cols int `json:"cols" doc:"width in cells"`
	Rows int `json:"rows" doc:"height in cells"`
	// Version grows with every change. Pass it to get only later changes.
	Version uint64 `json:"version" doc:"grows with every change of the screen"`
	Cursor  Cursor `json:"cursor"`
	Title   string `json:"title" doc:"window title set by OSC 0 or 2"`
	Alt     bool   `json:"alt" doc:"the alternate screen is shown"`
	// Lines are all rows, or in a delta only those that changed.
	Lines []Line `json:"lines"`
	// Scrollback holds the requested history lines, oldest first.
	Scrollback []Line `json:"scrollback,omitempty" doc:"requested history lines, oldest first"`
	// Delta is set if unchanged rows are omitted.
	Delta bool `json:"delta,omitempty" doc:"unchanged rows are omitted"`
}

// Cursor is the cursor's position and look.
type Cursor struct {
	X       int    `json:"x" doc:"column, 0-based"`
	Y       int    `json:"y" doc:"row, 0-based"`
	Visible bool   `json:"visible"`
	Shape   string `json:"shape" enum:"block,underline,bar"`
	Blink   bool   `json:"blink,omitempty"`
}

// Line is a row: its text without trailing padding, and the same text as spans.
type Line struct {
	Row     int    `json:"row" doc:"row of the screen (of the history: index from its oldest line), 0-based"`
	Text    string `json:"text" doc:"the row's text without trailing padding"`
	Wrapped bool   `json:"wrapped" doc:"the text continues in the next row"`
	Size    string `json:"size,omitempty" enum:"double-width,double-top,double-bottom"`
	Spans   []Span `json:"spans"`
	// Pictures lists the row's parts of images, if requested; Spans has placeholders for them.
	Pictures []Picture `json:"pictures,omitempty" doc:"the row's parts of images, if requested"`
}

// Picture is one row of cells of an image, which is identified by a key.
type Picture struct {
	Key   string `json:"key" doc:"identifies the image; empty if the image was dropped"`
	Col   int    `json:"col" doc:"first column, 0-based"`
	Width int    `json:"width" doc:"columns covered"`
	// X and Y are the first cell within the image; Cols and Rows are the cells that the whole image covers.
	X    int     `json:"x" doc:"first column within the image, 0-based"`
	Y    int     `json:"y" doc:"row within the image, 0-based"`
	Cols float64 `json:"cols" doc:"width of the whole image in columns"`
	Rows float64 `json:"rows" doc:"height of the whole image in rows"`
}

// Span is a run of cells of the same style. A colour is absent if it is the terminal's default. FGIndex and BGIndex are
// present for palette colours, so that default, palette and direct colours are distinguishable (R31).
type Span struct {
	Text  string `json:"text"`
	Col   int    `json:"col" doc:"first column, 0-based"`
	Width int    `json:"width" doc:"columns covered"`
	// Widths holds the columns of each character of Text, unless all are 1.
	Widths []int8 `json:"widths,omitempty" doc:"columns of each code point of text, 0 when it joins the one before; absent: 1 each"`

	FG      string `json:"fg,omitempty" doc:"foreground as #rrggbb; absent: default"`
	BG      string `json:"bg,omitempty" doc:"background as #rrggbb; absent: default"`
	FGIndex *uint8 `json:"fg_index,omitempty" doc:"palette index when fg came from the palette"`
	BGIndex *uint8 `json:"bg_index,omitempty" doc:"palette index when bg came from the palette"`

	Bold      bool   `json:"bold,omitempty"`
	Dim       bool   `json:"dim,omitempty"`
	Italic    bool   `json:"italic,omitempty"`
	Underline string `json:"underline,omitempty" enum:"single,double,curly,dotted,dashed"`
	ULColor   string `json:"underline_color,omitempty" doc:"#rrggbb; absent: that of the text"`
	Blink     bool   `json:"blink,omitempty"`
	Inverse   bool   `json:"inverse,omitempty"`
	Conceal   bool   `json:"conceal,omitempty"`
	Strike    bool   `json:"strike,omitempty"`
	Overline  bool   `json:"overline,omitempty"`
	Link      string `json:"link,omitempty" doc:"hyperlink target (OSC 8)"`

	Image *ImagePart `json:"-"` // nil for text
	Lost  bool       `json:"-"` // the image was dropped
}

// ImagePart is one row of cells of an image.
type ImagePart struct {
	Image      *vterm.Image
	X, Y       int     // the span's first cell within the image, in cells
	Cols, Rows float64 // cells that the image covers
}
