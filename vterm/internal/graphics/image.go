// Package graphics is what a terminal knows of pictures: images as programs sent them, undecoded, and where
// they are placed; the size of a sixel picture; commands of the kitty graphics protocol and their answers.
//
// It knows pixels, bytes and counts of cells, but no screen: the terminal covers cells with a placement's index.
package graphics

// Format says how the data of an Image is encoded.
type Format uint8

// Image formats.
const (
	Sixel Format = iota // the body of the DCS, as sent
	PNG
	RGB  // 3 bytes a pixel
	RGBA // 4 bytes a pixel
	JPEG
	GIF // its first picture
)

// Image is a picture that a program sent, undecoded.
type Image struct {
	ID            uint32 // of the kitty protocol; 0 for sixels
	Format        Format
	Deflated      bool // Data is a zlib stream
	Fit           bool // its sides keep their ratio within the cells that it covers, and it is not spread over all of them
	Width, Height int  // pixels; 0 when the data has to be asked
	Data          []byte
}

// Placement is an image put on the screen. An image cell's content is the index of its
// placement in Frame.Images.
type Placement struct {
	Image      *Image
	ID         uint32 // of the kitty protocol
	Cols, Rows int    // cells covered
	Z          int32
}
