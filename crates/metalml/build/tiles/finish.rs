//! What becomes of the sums of a thread.

use std::fmt::Write as _;

use super::{Task, Tile};

/// Writes the sums with their linear terms, and then the epilogue, if there is one, over what this thread wrote: in a loop, where the
/// text of an epilogue for each sum would be slow to compile.
pub(super) fn finish(tile: &Tile) -> String {
    if tile.task == Task::Least {
        return least(tile);
    }
    let groups = tile.per_col / 4;
    let split = if tile.task == Task::Plain {
        ""
    } else {
        " + group.z * params.split_stride"
    };
    let mut text = format!("    let out_start = params.out_start{split};\n");
    if tile.task == Task::Gram {
        return text + &sums(tile);
    }
    for j in 0..groups {
        _ = write!(
            text,
            "    let col{j} = first_b + 4u * b_at{j};\n    var bias{j} = vec4<f32>();\n    \
             if params.has_bias != 0u {{\n        for (var lane = 0u; lane < 4u; lane += 1u) {{\n            \
             if col{j} + lane < params.n_cols {{ bias{j}[lane] = bias[params.bias_start + col{j} + lane]; }}\n        }}\n    }}\n"
        );
    }
    for i in 0..tile.per_row {
        _ = writeln!(
            text,
            "    {{\n    let row = first_a + 4u * a_at{} + {}u;\n    if row < params.n_rows {{\n        var scale = params.alpha;\n        \
             var more = 0.0;\n        if params.row_use == 1u {{ scale *= row_terms[params.row_start + row]; }}\n        \
             if params.row_use == 2u {{ more = row_terms[params.row_start + row]; }}",
            i / 4,
            i % 4
        );
        for j in 0..groups {
            _ = write!(
                text,
                "        if col{j} < params.n_cols {{\n            let at = out_start + row * params.out_ld + col{j} / 4u;\n            \
                 var value = scale * sum{i}_{j} + (bias{j} + more);\n            \
                 if params.beta != 0.0 {{ value += params.beta * out[at]; }}\n            \
                 if col{j} + 3u < params.n_cols {{\n                out[at] = value;\n            }} else {{\n                out[at].x = value.x;\n                \
                 if col{j} + 1u < params.n_cols {{ out[at].y = value.y; }}\n                if col{j} + 2u < params.n_cols {{ out[at].z = value.z; }}\n            \
                 }}\n        }}\n"
            );
        }
        text += "    }\n    }\n";
    }
    if tile.task == Task::Plain {
        return text + "}\n";
    }
    let pick = |name: &str, number: &str, count: usize| {
        (1..count).fold(format!("{name}0"), |found, group| {
            format!("select({found}, {name}{group}, {number} == {group}u)")
        })
    };
    _ = write!(
        text,
        "    if params.epilogue != 0u {{\n    for (var i = 0u; i < {}u; i += 1u) {{\n        let quad = i / 4u;\n        \
         let row = first_a + 4u * {} + i % 4u;\n        if row >= params.n_rows {{ continue; }}\n        \
         for (var j = 0u; j < {groups}u; j += 1u) {{\n            let col = {};\n            \
         let at = out_start + row * params.out_ld + col / 4u;\n            \
         for (var lane = 0u; lane < 4u; lane += 1u) {{\n                if col + lane < params.n_cols {{\n                    \
         out[at][lane] = epilogue(out[at][lane], params.epilogue, params.gamma, params.coef0, params.degree);\n                }}\n            \
         }}\n        }}\n    }}\n    }}\n}}\n",
        tile.per_row,
        pick("a_at", "quad", tile.per_row / 4),
        pick("col", "j", groups),
    );
    text
}

/// Writes the sums as they are, in whole vectors.
fn sums(tile: &Tile) -> String {
    let mut text = String::new();
    for i in 0..tile.per_row {
        for j in 0..tile.per_col / 4 {
            _ = writeln!(
                text,
                "    {{\n    let row = first_a + 4u * a_at{} + {}u;\n    let col = first_b + 4u * b_at{j};\n    \
                 if row < params.n_rows && col < params.n_cols {{ out[out_start + row * params.out_ld + col / 4u] = sum{i}_{j}; }}\n    }}",
                i / 4,
                i % 4
            );
        }
    }
    text + "}\n"
}

/// Writes the least of each row's estimates.
fn least(tile: &Tile) -> String {
    let groups = tile.per_col / 4;
    let mut text = String::from(
        "    let group_of_rows = tile_col * 16u + wave % 2u * 8u + lane % 8u;\n    if group_of_rows >= params.out_ld { return; }\n",
    );
    for j in 0..groups {
        _ = write!(
            text,
            "    var norm{j} = vec4(LARGEST);\n    for (var at = 0u; at < 4u; at += 1u) {{\n        let col = first_b + 4u * b_at{j} + at;\n        \
             if col < params.n_cols {{ norm{j}[at] = norms[params.first_norm + col]; }}\n    }}\n"
        );
    }
    for i in 0..tile.per_row {
        _ = write!(
            text,
            "    {{\n    let row = first_a + 4u * a_at{} + {}u;\n    var few = norm0 - 2.0 * sum{i}_0;\n",
            i / 4,
            i % 4
        );
        for j in 1..groups {
            _ = writeln!(text, "    few = min(few, norm{j} - 2.0 * sum{i}_{j});");
        }
        text += "    if row < params.n_rows { least[row * params.out_ld + group_of_rows] = min(min(few.x, few.y), min(few.z, few.w)); }\n    }\n";
    }
    text + "}\n"
}
