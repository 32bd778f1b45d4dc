package color

import "math"

// Colours in device-independent spaces are converted as in Xlib's colour management for a screen without data: with the
// primaries and the response curves of Xlib's default monitor. Colours outside its gamut lose chroma; hue and lightness
// stay. Oddities of Xlib are kept, as programs see them.

// xyzToRGB converts CIE XYZ to linear intensities of the monitor.
var xyzToRGB = [3][3]float64{
	{3.48340481253539, -1.521763749272853, -0.5592313335404978},
	{-1.071527513061936, 1.965937952043724, 0.03673691339553462},
	{0.06351179790497788, -0.2002050100049648, 0.8107094203164822},
}

// whiteXYZ is the monitor's white point.
var whiteXYZ = [3]float64{0.94966440, 1, 1.40604030}

// curve is the response of a phosphor: the intensities, in millionths, of every fifth device value up to 255. dark is
// the largest value without light.
type curve struct {
	dark        int
	intensities []float64
}

// curves holds the curves of red, green and blue.
var curves = [3]curve{
	{0x09, []float64{
		936, 1481, 2329, 3529, 5127, 7169, 9699, 12759, 16392, 20637,
		25533, 31119, 37431, 44504, 52373, 61069, 70624, 81070, 92433, 104744,
		118026, 132307, 147610, 163958, 181371, 199871, 219475, 240202, 262069, 285089,
		309278, 334647, 361208, 388971, 417945, 448138, 479555, 512202, 546082, 581199,
		617552, 655144, 693971, 734031, 775322, 817837, 861571, 906515, 952662, 1000000,
	}},
	{0x13, []float64{
		832, 1998, 3612, 5736, 8428, 11745, 15740, 20463, 25960, 32275,
		39449, 47519, 56520, 66484, 77439, 89409, 102418, 116485, 131625, 147853,
		165176, 183604, 203140, 223783, 245533, 268384, 292327, 317351, 343441, 370580,
		398747, 427919, 458068, 489165, 521176, 554067, 587797, 622324, 657604, 693588,
		730225, 767459, 805235, 843491, 882164, 921187, 960490, 1000000,
	}},
	{0x0e, []float64{
		1341, 2080, 3188, 4729, 6766, 9357, 12559, 16424, 21004, 26344,
		32489, 39481, 47357, 56154, 65903, 76634, 88373, 101145, 114968, 129862,
		145841, 162915, 181095, 200386, 220791, 242309, 264937, 288670, 313499, 339410,
		366390, 394421, 423481, 453547, 484592, 516587, 549498, 583291, 617925, 653361,
		689553, 726454, 764013, 802178, 840891, 880093, 919723, 959715, 1000000,
	}},
}

// value returns the device value with the nearest intensity.
func (c *curve) value(intensity float64) uint32 {
	intensity *= 1e6
	if intensity <= 0 {
		return 0
	}
	from, below := float64(c.dark), 0.0
	for i, v := range c.intensities {
		to := float64(255 - 5*(len(c.intensities)-1-i))
		if intensity <= v {
			return uint32(from + (to-from)*(intensity-below)/(v-below) + 0.5)
		}
		from, below = to, v
	}
	return 255
}

func deviceRGB(v [3]float64) uint32 {
	return curves[0].value(v[0])<<16 | curves[1].value(v[1])<<8 | curves[2].value(v[2])
}

func linearRGB(xyz [3]float64) (rgb [3]float64) {
	for i, row := range xyzToRGB {
		rgb[i] = row[0]*xyz[0] + row[1]*xyz[1] + row[2]*xyz[2]
	}
	return rgb
}

func inGamut(v [3]float64) bool {
	const eps = 1e-5
	return min(v[0], v[1], v[2]) >= -eps && max(v[0], v[1], v[2]) <= 1+eps
}

func inUnit(v [3]float64) bool {
	return min(v[0], v[1], v[2]) >= 0 && max(v[0], v[1], v[2]) <= 1
}

// chromaSteps limits the search for the largest displayable chroma.
const chromaSteps = 50

// compress returns the intensities of a colour, with reduced chroma if necessary.
func compress(xyz [3]float64) [3]float64 {
	rgb := linearRGB(xyz)
	d := xyz[0] + 15*xyz[1] + 3*xyz[2]
	switch {
	case inGamut(rgb):
		return rgb
	case xyz[1] >= 1:
		return [3]float64{1, 1, 1}
	case xyz[1] <= 0 || d == 0:
		return [3]float64{}
	}
	u0, v0 := whiteUV()
	du, dv := 4*xyz[0]/d-u0, 9*xyz[1]/d-v0
	at := func(k float64) [3]float64 { return linearRGB(fromUVY([3]float64{u0 + k*du, v0 + k*dv, xyz[1]})) }
	lo, hi := 0.0, 1.0
	for range chromaSteps {
		if k := (lo + hi) / 2; inUnit(at(k)) {
			lo = k
		} else {
			hi = k
		}
	}
	return at(lo)
}

// colorSpaces maps the names of colour spaces to conversions to CIE XYZ, where Y of white is 1.
var colorSpaces = map[string]func([3]float64) [3]float64{
	"ciexyz": func(v [3]float64) [3]float64 { return v },
	"ciexyy": func(v [3]float64) [3]float64 {
		if v[1] == 0 {
			return [3]float64{}
		}
		return [3]float64{v[0] * v[2] / v[1], v[2], (1 - v[0] - v[1]) * v[2] / v[1]}
	},
	"cieuvy": fromUVY,
	"cielab": fromLab,
	"cieluv": fromLuv,
	"tekhvc": fromHVC,
}

func whiteUV() (u, v float64) {
	d := whiteXYZ[0] + 15*whiteXYZ[1] + 3*whiteXYZ[2]
	return 4 * whiteXYZ[0] / d, 9 * whiteXYZ[1] / d
}

func fromUVY(v [3]float64) [3]float64 {
	if v[1] == 0 {
		return [3]float64{}
	}
	return [3]float64{9 * v[0] * v[2] / (4 * v[1]), v[2], v[2] * (12 - 3*v[0] - 20*v[1]) / (4 * v[1])}
}

// darkL is the L* below which lightness is linear.
const darkL = 7.99953624

func lightness(l float64) float64 {
	if l < darkL {
		return l / 903.29
	}
	t := (l + 16) / 116
	return t * t * t
}

// fromLab uses Xlib's slope for dark colours, which is a hundred times too steep.
func fromLab(v [3]float64) [3]float64 {
	t := (v[0] + 16) / 116
	if t*t*t < 0.008856 {
		t = v[0] / 9.03292
		return [3]float64{whiteXYZ[0] * (v[1]/3893.5 + t), t, whiteXYZ[2] * (t - v[2]/1557.4)}
	}
	x, z := t+v[1]/500, t-v[2]/200
	return [3]float64{whiteXYZ[0] * x * x * x, t * t * t, whiteXYZ[2] * z * z * z}
}

// fromLuv uses L* as a fraction for chroma, as Xlib does.
func fromLuv(v [3]float64) [3]float64 {
	if v[0] <= 0 {
		return [3]float64{}
	}
	u0, v0 := whiteUV()
	return fromUVY([3]float64{v[1]/(0.13*v[0]) + u0, v[2]/(0.13*v[0]) + v0, lightness(v[0])})
}

// fromHVC converts Tektronix's hue, value, chroma: hue counts from the best red.
func fromHVC(v [3]float64) [3]float64 {
	const chromaScale, redU, redV = 7.50725, 0.7127, 0.4931
	if v[1] <= 0 {
		return [3]float64{}
	}
	u0, v0 := whiteUV()
	angle := math.Atan2(redV-v0, redU-u0) + v[0]*math.Pi/180
	k := v[2] / (v[1] * chromaScale)
	return fromUVY([3]float64{u0 + k*math.Cos(angle), v0 + k*math.Sin(angle), lightness(v[1])})
}
