//! Bytes are a WebAssembly module: it is refused in a line, or its hooks answer or fail in a line.
#![no_main]

use sojourn_parts::{Cause, Instance, Program};

libfuzzer_sys::fuzz_target!(|module: &[u8]| {
    match sojourn_wasm::read(module, "") {
        Err(fault) => assert!(!fault.contains('\n'), "{fault}"),
        Ok(program) => {
            if let Err(cause) = run(&*program) {
                assert!(!cause.to_string().contains('\n'), "{cause}");
            }
        }
    }
});

/// Two rounds of all its hooks, as far as it goes.
fn run(program: &dyn Program) -> Result<(), Cause> {
    let declaration = program.declaration();
    let values: Vec<_> = declaration.parameters.iter().map(|of| of.default).collect();
    let mut instance: Box<dyn Instance> = program.start(&values, 1)?;
    for round in 0..2 {
        for hook in &declaration.hooks {
            let numbers = vec![f64::from(round) * 1e6; hook.numbers().len()];
            instance.call(*hook, &numbers, &mut Vec::new())?;
        }
        instance.gauges(&mut Vec::new())?;
    }
    Ok(())
}
