// Package graphics stores a terminal's pictures: images as programs sent them, undecoded, and their placements. It also
// parses the size of sixel pictures and the commands of the kitty graphics protocol, and formats their answers.
//
// It uses pixels, bytes and counts of cells, and has no screen: the terminal fills cells with the index of a placement.
package graphics

// Format is the encoding of an Image's data.
type Format uint8

// Image formats.
const (
	Sixel Format = iota // the body of the DCS, as sent
	PNG
	RGB  // 3 bytes a pixel
	RGBA // 4 bytes a pixel
	JPEG
	GIF // the first frame
)

// Image is a picture as a program sent it, not decoded.
type Image struct {
	ID            uint32 // of the kitty protocol; 0 for sixels
	Format        Format // encoding of Data
	Deflated      bool   // Data is a zlib stream
	Fit           bool   // keep the aspect ratio within the covered cells instead of filling them
	Width, Height int    // pixels; 0 if only the data contains them
	Data          []byte
}

// Placement is an image on the screen. The content of an image cell is the index of its placement in Frame.Images.
type Placement struct {
	Image      *Image
	ID         uint32 // of the kitty protocol
	Cols, Rows int    // cells covered
	Z          int32  // stacking order
}
