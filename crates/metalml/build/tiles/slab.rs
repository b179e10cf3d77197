//! How slabs come into workgroup memory, and are multiplied there.

use std::fmt::Write as _;

use super::{Side, Task, Tile};

const LANES: [char; 4] = ['x', 'y', 'z', 'w'];

/// The loop over the slabs.
pub(super) fn pass(tile: &Tile, a: &Side, b: &Side) -> String {
    let (blocks, depth) = (tile.blocks(a), tile.depth);
    let other = format!("thread - {blocks}u");
    // Half of the threads bring a, the others b.
    let both =
        |of_a: String, of_b: String| format!("    if thread < {blocks}u {{\n{of_a}    }} else {{\n{of_b}    }}\n");
    let bring = |slab: &str| both(fetch(tile, a, slab), fetch(tile, b, slab));
    let keep = |half: &str, slab: &str| both(stow(tile, a, "thread", half, slab), stow(tile, b, &other, half, slab));
    let mut text = String::from("    var along = 0u;\n    var part: mat4x4<f32>;\n");
    for i in 0..4 {
        _ = writeln!(text, "    var at{i} = 0u;");
    }
    text += &both(aim(tile, a, "thread"), aim(tile, b, &other));
    text += &bring("first_k");
    text += &keep("0u", "first_k");
    _ = write!(
        text,
        "    workgroupBarrier();\n    var half = 0u;\n    \
         for (var slab = first_k + {depth}u; slab < end_k + {depth}u; slab += {depth}u) {{\n    \
         let more = slab < end_k;\n    if more {{\n{}    }}\n    {{\n{}    }}\n    half = 1u - half;\n    \
         if more {{\n{}    }}\n    workgroupBarrier();\n    }}\n",
        bring("slab"),
        products(tile, a, b),
        keep("half", "slab"),
    );
    text
}

/// Where a thread's four by four values of a side lie, as far as no slab changes it: `block` says which they are.
fn aim(tile: &Tile, side: &Side, block: &str) -> String {
    let Side { name, end, .. } = side;
    if !side.along_k {
        let quads = side.len / 4;
        return format!(
            "        along = ({block}) / {quads}u * 4u;\n        \
             at0 = params.{name}_start + min(first_{name} / 4u + ({block}) % {quads}u, ({end} - 1u) / 4u);\n"
        );
    }
    let quads = tile.depth / 4;
    let mut text =
        format!("        along = ({block}) % {quads}u;\n        let row = first_{name} + ({block}) / {quads}u * 4u;\n");
    for i in 0..4 {
        _ = writeln!(
            text,
            "        at{i} = params.{name}_start + min(row + {i}u, {end} - 1u) * params.{name}_ld;"
        );
    }
    text
}

/// Brings those values of the slab that begins at `slab`. Past the edges it brings what is there, and nothing here waits for it:
/// the products of the last slab come first.
fn fetch(tile: &Tile, side: &Side, slab: &str) -> String {
    let Side { name, .. } = side;
    let four = |at: &dyn Fn(usize) -> String| {
        let vectors: Vec<_> = (0..4).map(|i| format!("{name}[{}]", at(i))).collect();
        format!("part = mat4x4<f32>({});", vectors.join(", "))
    };
    if side.along_k {
        let vectors = four(&|i| format!("at{i} + k"));
        return format!("        let k = min({slab} / 4u + along, last_k / 4u);\n        {vectors}\n");
    }
    let inside = four(&|i| format!("k + {i}u * params.{name}_ld"));
    let at_the_end = four(&|i| format!("at0 + min({slab} + along + {i}u, last_k) * params.{name}_ld"));
    format!(
        "        if {slab} + {}u <= end_k {{\n            let k = at0 + ({slab} + along) * params.{name}_ld;\n            {inside}\n        \
         }} else {{\n            {at_the_end}\n        }}\n",
        tile.depth,
    )
}

/// By how much the vectors of the rows of `k` are turned, so that neighbours write to different banks of workgroup memory.
fn turn(tile: &Tile, side: &Side) -> Option<usize> {
    side.along_k.then_some(32 / tile.depth)
}

/// Puts the values in half of the workgroup memory, `k` from row to row; what lies past the end of `k` becomes 0.
fn stow(tile: &Tile, side: &Side, block: &str, half: &str, slab: &str) -> String {
    let (depth, vectors) = (tile.depth, side.len / 4);
    let (k, vector, turned) = match turn(tile, side) {
        Some(turn) => {
            let quads = depth / 4;
            let vector = format!("(({block}) / {quads}u ^ (({block}) % {quads}u * {turn}u))");
            (
                format!("({block}) % {quads}u * 4u"),
                vector,
                "        part = transpose(part);\n",
            )
        }
        None => (
            format!("({block}) / {vectors}u * 4u"),
            format!("({block}) % {vectors}u"),
            "",
        ),
    };
    let shifted = if tile.task == Task::Least {
        let quads = depth / 4;
        format!(
            "        let origin = shift[min({slab} / 4u + ({block}) % {quads}u, last_k / 4u)];\n        \
             part = mat4x4<f32>(part[0] - origin, part[1] - origin, part[2] - origin, part[3] - origin);\n"
        )
    } else {
        String::new()
    };
    let mut text = format!("{shifted}{turned}        let k = {k};\n        if {slab} + {depth}u > end_k {{\n");
    for i in 0..4 {
        _ = writeln!(
            text,
            "            if {slab} + k + {i}u >= end_k {{ part[{i}] = vec4<f32>(); }}"
        );
    }
    _ = writeln!(
        text,
        "        }}\n        let to = {half} * {}u + k * {vectors}u + {vector};",
        depth * vectors
    );
    for i in 0..4 {
        _ = writeln!(text, "        {}_slab[to + {}u] = part[{i}];", side.name, i * vectors);
    }
    text
}

/// The products of one slab.
fn products(tile: &Tile, a: &Side, b: &Side) -> String {
    if !tile.unrolled {
        let step = read(tile, [a, b], &Step::Variable) + &multiply(tile, b, "");
        return format!("    for (var k = 0u; k < {}u; k += 1u) {{\n{step}    }}\n", tile.depth);
    }
    let mut text = read(tile, [a, b], &Step::Number(0));
    for k in 0..tile.depth {
        if k + 1 < tile.depth {
            text += &read(tile, [a, b], &Step::Number(k + 1));
        }
        text += &multiply(tile, b, &k.to_string());
    }
    text
}

/// Which `k` of a slab.
enum Step {
    Number(usize),
    Variable,
}

/// Reads what one `k` multiplies.
fn read(tile: &Tile, sides: [&Side; 2], step: &Step) -> String {
    let mut text = String::new();
    for side in sides {
        let (name, vectors) = (side.name, side.len / 4);
        for group in 0..side.groups {
            let at = format!("{name}_at{group}");
            let (suffix, row, at) = match (step, turn(tile, side)) {
                (Step::Number(k), Some(turn)) if k / 4 * turn > 0 => (
                    k.to_string(),
                    format!("{}u", k * vectors),
                    format!("({at} ^ {}u)", k / 4 * turn),
                ),
                (Step::Number(k), _) => (k.to_string(), format!("{}u", k * vectors), at),
                (Step::Variable, Some(turn)) => (
                    String::new(),
                    format!("k * {vectors}u"),
                    format!("({at} ^ (k / 4u * {turn}u))"),
                ),
                (Step::Variable, None) => (String::new(), format!("k * {vectors}u"), at),
            };
            _ = writeln!(
                text,
                "    let {name}{suffix}_{group} = {name}_slab[half * {}u + {row} + {at}];",
                tile.depth * vectors
            );
        }
    }
    text
}

fn multiply(tile: &Tile, b: &Side, suffix: &str) -> String {
    let mut text = String::new();
    for i in 0..tile.per_row {
        for j in 0..b.groups {
            _ = writeln!(
                text,
                "    sum{i}_{j} += a{suffix}_{}.{} * b{suffix}_{j};",
                i / 4,
                LANES[i % 4]
            );
        }
    }
    text
}
