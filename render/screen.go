// Package render turns a vterm.Frame into what people and programs read: styled
// spans (Screen), JSON, plain text and ANSI; and a Screen into HTML, SVG and Markdown.
// Everything here is a pure function of a frame: no terminal, file or clock is touched.
// Pixels are drawn by package pixel, moving pictures made by package anim.
//
// Rows and columns are cells, 0-based.
package render

import "github.com/longterm-dev/longterm/vterm"

// Screen is a screen as lines of spans; its JSON form is the product's screen format.
type Screen struct {
	Cols int `json:"cols" doc:"width in cells"`
	Rows int `json:"rows" doc:"height in cells"`
	// Version grows with every change; ask for what changed since it.
	Version uint64 `json:"version" doc:"grows with every change of the screen"`
	Cursor  Cursor `json:"cursor"`
	Title   string `json:"title" doc:"window title set by OSC 0 or 2"`
	Alt     bool   `json:"alt" doc:"the alternate screen is shown"`
	// Lines are all rows, or in a delta only those that changed.
	Lines []Line `json:"lines"`
	// Scrollback is what was asked for of the history, oldest first.
	Scrollback []Line `json:"scrollback,omitempty" doc:"requested history lines, oldest first"`
	// Delta is set when rows that did not change are left out.
	Delta bool `json:"delta,omitempty" doc:"unchanged rows are left out"`
}

// Cursor is where the next character goes.
type Cursor struct {
	X       int    `json:"x" doc:"column, 0-based"`
	Y       int    `json:"y" doc:"row, 0-based"`
	Visible bool   `json:"visible"`
	Shape   string `json:"shape" enum:"block,underline,bar"`
	Blink   bool   `json:"blink,omitempty"`
}

// Line is one row: its text without trailing padding, and the same text in spans.
type Line struct {
	Row     int    `json:"row" doc:"row of the screen (of the history: index from its oldest line), 0-based"`
	Text    string `json:"text" doc:"the row's text without trailing padding"`
	Wrapped bool   `json:"wrapped" doc:"the text goes on in the next row"`
	Size    string `json:"size,omitempty" enum:"double-width,double-top,double-bottom"`
	Spans   []Span `json:"spans"`
	// Pictures are what the row shows of images, for those who ask; Spans has something in their place.
	Pictures []Picture `json:"pictures,omitempty" doc:"what the row shows of images, where that is asked for"`
}

// Picture is a row of cells of an image, which is known by a key.
type Picture struct {
	Key   string `json:"key" doc:"the image's: the same for the same image; empty: it is not kept any more"`
	Col   int    `json:"col" doc:"first column, 0-based"`
	Width int    `json:"width" doc:"columns covered"`
	// X and Y are the first cell within the image, Cols and Rows are the cells that all of it is spread over.
	X    int     `json:"x" doc:"first column within the image, 0-based"`
	Y    int     `json:"y" doc:"row within the image, 0-based"`
	Cols float64 `json:"cols" doc:"columns that the whole image is spread over"`
	Rows float64 `json:"rows" doc:"rows that the whole image is spread over"`
}

// Span is a run of cells that look the same. A colour is absent when it is the
// terminal's default; FGIndex and BGIndex are present when it came from the palette,
// so default, palette and direct colours can be told apart (R31).
type Span struct {
	Text  string `json:"text"`
	Col   int    `json:"col" doc:"first column, 0-based"`
	Width int    `json:"width" doc:"columns covered"`
	// Widths say where each character of Text stands, when they are not one column each.
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

	Image *ImagePart `json:"-"` // nil: it is text
	Lost  bool       `json:"-"` // an image stood here that is not kept any more
}

// ImagePart is a row of cells of an image that a program placed.
type ImagePart struct {
	Image      *vterm.Image
	X, Y       int     // the span's first cell in the image, in cells
	Cols, Rows float64 // cells that the image is spread over
}
