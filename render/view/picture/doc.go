// Package picture encodes images for terminals that can draw them.
//
// Answers finds a terminal's answers in its input and yields Means: the supported kinds of images. A Store holds
// decoded images by key. Means.Encode converts a part of an image, and Means.Draw appends the sequence that draws it
// over cells: sixel, kitty graphics, or iTerm2 files.
//
// The package does no I/O. Positions and sizes are cells of the terminal, 0-based, or pixels where stated.
package picture
