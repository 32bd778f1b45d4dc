package vterm

import "github.com/longterm-dev/longterm/vterm/internal/graphics"

// ImageFormat says how the data of an Image is encoded.
type ImageFormat = graphics.Format

// Image formats.
const (
	ImageSixel = graphics.Sixel // the body of the DCS, as sent
	ImagePNG   = graphics.PNG
	ImageRGB   = graphics.RGB  // 3 bytes a pixel
	ImageRGBA  = graphics.RGBA // 4 bytes a pixel
)

// Image is a picture that a program sent, undecoded.
type Image = graphics.Image

// Placement is an image put on the screen. An image cell's content is the index of its
// placement in Frame.Images.
type Placement = graphics.Placement
